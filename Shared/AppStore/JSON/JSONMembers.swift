/// The members of one JSON object: where they lie, not yet what they say.
struct JSONMembers: Sendable {
  private struct Member {
    let name: Range<Int>
    let value: Range<Int>
  }

  let bytes: [UInt8]
  private var members: [Member] = []

  /// The object that is the whole text, which must be valid UTF-8.
  init(_ bytes: [UInt8]) throws(JSONFault) {
    guard (try? UTF8Span(validating: bytes.span)) != nil else {
      throw JSONFault(detail: "expected UTF-8", offset: 0)
    }
    self.bytes = bytes
    var scanner = JSONScanner(bytes)
    scanner.skipSpace()
    try read(&scanner)
    try scanner.end()
  }

  /// The object at a place of a text that was read before.
  init(_ bytes: [UInt8], at place: Range<Int>) throws(JSONFault) {
    self.bytes = bytes
    var scanner = JSONScanner(bytes, from: place.lowerBound)
    try read(&scanner)
  }

  private mutating func read(_ scanner: inout JSONScanner) throws(JSONFault) {
    var found: [Member] = []
    found.reserveCapacity(32)
    try scanner.members(depth: 0) { name, value in found.append(Member(name: name, value: value)) }
    members = found
  }

  /// Where the value of the first member of that name lies; nil if absent or null.
  func find(_ name: StaticString) -> Range<Int>? {
    for member in members where has(member.name, name) {
      // Among values, only null begins with n.
      return bytes[member.value.lowerBound] == UInt8(ascii: "n") ? nil : member.value
    }
    return nil
  }

  private func has(_ place: Range<Int>, _ name: StaticString) -> Bool {
    // A name with escapes is at least as long as what it stands for, and never equal as bytes.
    let count = name.utf8CodeUnitCount
    guard place.count >= count else { return false }
    let isEqual = name.withUTF8Buffer { expected in
      guard place.count == count else { return false }
      for index in 0..<count where unsafe bytes[place.lowerBound + index] != expected[index] {
        return false
      }
      return true
    }
    guard !isEqual, place.count > count, bytes[place].contains(UInt8(ascii: "\\")) else {
      return isEqual
    }
    return JSONText.decode(bytes[place]) == "\(name)"
  }
}
