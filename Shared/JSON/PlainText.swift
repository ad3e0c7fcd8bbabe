/// Finds the bytes of JSON text that mean more than themselves: quote, backslash, control character.
enum PlainText {
  /// The first place from which on, within eight bytes, such a byte may stand.
  ///
  /// Signed objects inside a notification are texts of kilobytes, so eight bytes are looked at together.
  /// The tests for a byte in a word are those of "Bit Twiddling Hacks" (S. E. Anderson): `hasless`, and
  /// `haszero` of the difference.
  static func skip(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    let count = text.count
    var position = start
    while position + 8 <= count {
      let word = unsafe text.loadUnaligned(fromByteOffset: position, as: UInt64.self)
      let quotes = word ^ (ones &* UInt64(UInt8(ascii: "\"")))
      let backslashes = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
      let found =
        (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes
        | (backslashes &- ones) & ~backslashes
      guard found & highs == 0 else { break }
      position += 8
    }
    return position
  }
}
