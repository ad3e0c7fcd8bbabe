/// Header fields in the order of arrival; names compare without regard to ASCII case.
public struct Headers: Sendable {
  /// The fields as they came.
  public private(set) var fields: [(name: String, value: String)]

  /// Takes fields.
  public init(_ fields: [(String, String)] = []) {
    self.fields = fields.map { (name: $0.0, value: $0.1) }
  }

  /// The first value of a field.
  public subscript(name: String) -> String? {
    fields.first { Self.same($0.name, name) }?.value
  }

  /// All values of a field.
  public func all(_ name: String) -> [String] {
    fields.filter { Self.same($0.name, name) }.map(\.value)
  }

  /// Adds a field.
  public mutating func add(_ name: String, _ value: String) {
    fields.append((name: name, value: value))
  }

  /// Whether two names are the same but for ASCII case.
  static func same(_ one: String, _ other: String) -> Bool {
    // Spans: iterators over two views of UTF-8 cost more than the rest of a look at the head.
    let (one, other) = (one.utf8.span, other.utf8.span)
    guard one.count == other.count else { return false }
    for index in one.indices where lowered(one[index]) != lowered(other[index]) { return false }
    return true
  }

  private static func lowered(_ byte: UInt8) -> UInt8 {
    (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
  }
}
