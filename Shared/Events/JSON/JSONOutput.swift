/// The bytes of a JSON text while it is written.
///
/// Foundation's encoder builds a tree of dictionaries and sorts it; here each value is written once, and
/// an object's members are put in order when it ends.
final class JSONOutput {
  private(set) var bytes: [UInt8] = []

  init() { bytes.reserveCapacity(1024) }

  func write(_ value: Bool) { bytes += value ? "true".utf8 : "false".utf8 }

  func writeNull() { bytes += "null".utf8 }

  func write(_ value: some BinaryInteger) {
    guard let small = Int64(exactly: value) else {
      bytes += String(value).utf8
      return
    }
    var digits: InlineArray<20, UInt8> = .init(repeating: 0)
    var count = 0
    var rest = small.magnitude
    repeat {
      digits[count] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
      count += 1
    } while rest > 0
    if small < 0 { bytes.append(UInt8(ascii: "-")) }
    while count > 0 {
      count -= 1
      bytes.append(digits[count])
    }
  }

  /// Writes the shortest decimal that reads back as the same number; false when there is none.
  func write(_ value: Double) -> Bool {
    guard value.isFinite else { return false }
    let text = value.description
    bytes += (text.hasSuffix(".0") ? text.dropLast(2) : text[...]).utf8
    return true
  }

  func write(_ text: String) {
    var text = text
    bytes.append(UInt8(ascii: "\""))
    text.withUTF8 { utf8 in
      var start = 0
      for index in 0..<utf8.count {
        let byte = unsafe utf8[index]
        guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
          continue
        }
        unsafe bytes.append(contentsOf: utf8[start..<index])
        writeEscaped(byte)
        start = index + 1
      }
      unsafe bytes.append(contentsOf: utf8[start...])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private func writeEscaped(_ byte: UInt8) {
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case 0x08: bytes.append(UInt8(ascii: "b"))
    case 0x09: bytes.append(UInt8(ascii: "t"))
    case 0x0A: bytes.append(UInt8(ascii: "n"))
    case 0x0C: bytes.append(UInt8(ascii: "f"))
    case 0x0D: bytes.append(UInt8(ascii: "r"))
    default:
      let digits = Array("0123456789abcdef".utf8)
      bytes += "u00".utf8
      bytes.append(digits[Int(byte >> 4)])
      bytes.append(digits[Int(byte & 15)])
    }
  }

  /// Where a member or element was written.
  struct Piece {
    var key = ""
    let range: Range<Int>
  }

  /// Makes the pieces written since `start` an object, its keys in order.
  ///
  /// Of a key that was written twice the last counts, as with Foundation.
  func endObject(from start: Int, _ pieces: [Piece]) {
    let ordered = Self.ordered(pieces)
    let written = Array(bytes[start...])
    bytes.removeLast(bytes.count - start)
    bytes.append(UInt8(ascii: "{"))
    for (place, piece) in ordered.enumerated() {
      if place + 1 < ordered.count, ordered[place + 1].key == piece.key { continue }
      if bytes.count > start + 1 { bytes.append(UInt8(ascii: ",")) }
      write(piece.key)
      bytes.append(UInt8(ascii: ":"))
      bytes += written[(piece.range.lowerBound - start)..<(piece.range.upperBound - start)]
    }
    bytes.append(UInt8(ascii: "}"))
  }

  /// The pieces by key, those of one key in the order of writing; few as they are, by insertion.
  private static func ordered(_ pieces: [Piece]) -> [Piece] {
    var ordered = pieces
    for index in ordered.indices.dropFirst() {
      let piece = ordered[index]
      var place = index
      // Swift compares ASCII text by its bytes, and our keys are ASCII.
      while place > 0, piece.key < ordered[place - 1].key {
        ordered[place] = ordered[place - 1]
        place -= 1
      }
      ordered[place] = piece
    }
    return ordered
  }

  /// Makes the pieces written since `start` an array.
  func endArray(from start: Int, _ pieces: [Piece]) {
    let written = Array(bytes[start...])
    bytes.removeLast(bytes.count - start)
    bytes.append(UInt8(ascii: "["))
    for piece in pieces {
      if bytes.count > start + 1 { bytes.append(UInt8(ascii: ",")) }
      bytes += written[(piece.range.lowerBound - start)..<(piece.range.upperBound - start)]
    }
    bytes.append(UInt8(ascii: "]"))
  }
}
