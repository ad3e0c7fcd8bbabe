/// The target of a request (RFC 9112 §3.2), split before it is decoded.
///
/// Segments are decoded one by one, so that `%2F` never becomes a separator. Refused are broken
/// escapes, bytes that are not UTF-8, control characters, and dot segments in any spelling.
struct RequestTarget: Sendable {
  /// The decoded parts between slashes.
  let segments: [String]
  let query: Query
  /// Path and query as they came.
  let text: String

  /// More parameters than this in a query are refused.
  static let parameterLimit = 100

  init(_ target: String) throws(Problem) {
    // Bytes, as every request comes this way: indices of a String cost ten times as much.
    var rest = Array(target.utf8)[...]
    if rest.first != UInt8(ascii: "/") { rest = try Self.withoutAuthority(target) }
    if let fragment = rest.firstIndex(of: UInt8(ascii: "#")) { rest = rest[..<fragment] }
    let mark = rest.firstIndex(of: UInt8(ascii: "?"))
    let path = rest[..<(mark ?? rest.endIndex)]

    var segments: [String] = []
    for raw in path.dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    {
      guard let segment = PercentEncoding.decoded(raw, plusIsSpace: false),
        segment != ".", segment != ".."
      else {
        throw Problem(
          status: 400, type: "malformed-path", title: "Malformed path",
          detail: "The path holds a broken percent-escape, a control character, bytes that are "
            + "not UTF-8, or a dot segment. Encode each segment by RFC 3986.")
      }
      segments.append(segment)
    }
    self.segments = segments
    text =
      rest.count == target.utf8.count ? target : String(decoding: rest, as: UTF8.self)
    query = try mark.map { (at) throws(Problem) in try Self.query(rest[(at + 1)...]) } ?? Query()
  }

  /// Cuts `http://authority` off an absolute-form target.
  private static func withoutAuthority(_ target: String) throws(Problem) -> ArraySlice<UInt8> {
    for scheme in ["http://", "https://"] where target.lowercased().hasPrefix(scheme) {
      let rest = Array(target.utf8.dropFirst(scheme.utf8.count))
      let start = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
      guard let start else { return [UInt8(ascii: "/")] }
      return rest[start] == UInt8(ascii: "?")
        ? [UInt8(ascii: "/")] + rest[start...] : rest[start...]
    }
    throw Problem(
      status: 400, type: "malformed-path", title: "Malformed path",
      detail: "The request target does not begin with a slash.")
  }

  private static func query(_ text: ArraySlice<UInt8>) throws(Problem) -> Query {
    var items: [(name: String, value: String)] = []
    for raw in text.split(separator: UInt8(ascii: "&")) {
      let parts = raw.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard items.count < parameterLimit,
        let name = PercentEncoding.decoded(parts[0], plusIsSpace: true),
        let value = parts.count > 1
          ? PercentEncoding.decoded(parts[1], plusIsSpace: true) : ""
      else {
        throw Problem(
          status: 400, type: "malformed-query", title: "Malformed query",
          detail: "The query holds a broken percent-escape, a control character, bytes that are "
            + "not UTF-8, or more than \(parameterLimit) parameters.")
      }
      items.append((name: name, value: value))
    }
    return Query(items: items)
  }
}

/// The parameters of a query, decoded, in the order of arrival.
public struct Query: Sendable {
  /// Names and values.
  public let items: [(name: String, value: String)]

  /// Takes parameters.
  public init(items: [(name: String, value: String)] = []) { self.items = items }

  /// The first value of a parameter.
  public subscript(name: String) -> String? { items.first { $0.name == name }?.value }

  /// All values of a parameter.
  public func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }
}
