/// The members of one JSON object: where they lie, not yet what they say.
public struct JSONMembers: Sendable {
  /// Places of 32 bits keep thirty members below the size from which an allocation costs more.
  private struct Member {
    private let nameStart, nameEnd, valueStart, valueEnd: Int32
    let isPlain: Bool

    init(name: Range<Int>, isPlain: Bool, value: Range<Int>) {
      nameStart = Int32(name.lowerBound)
      nameEnd = Int32(name.upperBound)
      valueStart = Int32(value.lowerBound)
      valueEnd = Int32(value.upperBound)
      self.isPlain = isPlain
    }

    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
    var value: Range<Int> { Int(valueStart)..<Int(valueEnd) }
  }

  /// The whole text, in which the places lie.
  public let bytes: [UInt8]
  private var members: [Member] = []

  /// The object that is the whole text, which must be valid UTF-8.
  public init(_ bytes: [UInt8]) throws(JSONFault) {
    guard (try? UTF8Span(validating: bytes.span)) != nil else {
      throw JSONFault(detail: "expected UTF-8", offset: 0)
    }
    guard bytes.count <= Int(Int32.max) else {
      throw JSONFault(detail: "text of 2 GiB or more", offset: Int(Int32.max))
    }
    self.bytes = bytes
    var scanner = JSONScanner(bytes)
    scanner.skipSpace()
    try read(&scanner)
    try scanner.end()
  }

  /// The object at a place of a text that was read before.
  public init(_ bytes: [UInt8], at place: Range<Int>) throws(JSONFault) {
    self.bytes = bytes
    var scanner = JSONScanner(bytes, from: place.lowerBound)
    try read(&scanner)
  }

  private mutating func read(_ scanner: inout JSONScanner) throws(JSONFault) {
    var found: [Member] = []
    found.reserveCapacity(24)
    try scanner.members(depth: 0) { name, isPlain, value in
      found.append(Member(name: name, isPlain: isPlain, value: value))
    }
    members = found
  }

  /// Where the value of the first member of that name lies; nil if absent or null.
  public func find(_ name: StaticString) -> Range<Int>? {
    for member in members where has(member, name) {
      // Among values, only null begins with n.
      return bytes[member.value.lowerBound] == UInt8(ascii: "n") ? nil : member.value
    }
    return nil
  }

  /// Where all names, without their quotes, and values lie, in their order.
  public var places: [(name: Range<Int>, value: Range<Int>)] {
    members.map { (name: $0.name, value: $0.value) }
  }

  /// The text at a place; nil for what is no text, or has an escape that is none.
  public func text(at place: Range<Int>) -> String? {
    guard bytes[place.lowerBound] == UInt8(ascii: "\"") else { return nil }
    return JSONText.decode(bytes[(place.lowerBound + 1)..<(place.upperBound - 1)])
  }

  /// True or false at a place; nil for anything else.
  public func bool(at place: Range<Int>) -> Bool? {
    switch bytes[place.lowerBound] {
    case UInt8(ascii: "t"): true
    case UInt8(ascii: "f"): false
    default: nil
    }
  }

  /// Where the elements of the list at a place lie; nil for what is no list.
  public func elements(at place: Range<Int>) -> [Range<Int>]? {
    var places: [Range<Int>] = []
    var scanner = JSONScanner(bytes, from: place.lowerBound)
    guard (try? scanner.elements(depth: 0) { places.append($0) }) != nil else { return nil }
    return places
  }

  private func has(_ member: Member, _ name: StaticString) -> Bool {
    guard member.isPlain else { return JSONText.decode(bytes[member.name]) == "\(name)" }
    let place = member.name
    guard place.count == name.utf8CodeUnitCount else { return false }
    return unsafe bytes.withUnsafeBytes { bytes in
      name.withUTF8Buffer { expected in
        for index in 0..<place.count
        where unsafe bytes[place.lowerBound + index] != expected[index] {
          return false
        }
        return true
      }
    }
  }
}
