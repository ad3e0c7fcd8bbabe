/// Finds the bytes of JSON text that mean more than themselves: quote, backslash, control character.
enum PlainText {
  /// The first place at which such a byte stands; the end where there is none.
  ///
  /// Signed objects inside a notification are texts of kilobytes, so eight bytes are looked at together.
  /// The tests for a byte in a word are those of "Bit Twiddling Hacks" (S. E. Anderson): `hasless`, and
  /// `haszero` of the difference. They may mark a byte that is none only above one that is.
  static func skip(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    let count = text.count
    var position = start
    while position + 8 <= count {
      let word = unsafe UInt64(
        littleEndian: text.loadUnaligned(fromByteOffset: position, as: UInt64.self))
      let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      let found =
        ((word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes
          | (backslashes &- ones) & ~backslashes) & highs
      guard found == 0 else { return position + found.trailingZeroBitCount / 8 }
      position += 8
    }
    while position < count {
      let byte = unsafe text[position]
      if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
      position += 1
    }
    return position
  }
}
