/// An HTTP method (RFC 9110 §9); any token is allowed, so that unknown ones can be answered 405.
public struct Method: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The token, in the case in which it was sent.
  public let rawValue: String

  /// Takes a token.
  public init(rawValue: String) { self.rawValue = rawValue }

  public static let get = Method(rawValue: "GET")
  public static let head = Method(rawValue: "HEAD")
  public static let post = Method(rawValue: "POST")
  public static let put = Method(rawValue: "PUT")
  public static let patch = Method(rawValue: "PATCH")
  public static let delete = Method(rawValue: "DELETE")
  public static let options = Method(rawValue: "OPTIONS")

  /// The token.
  public var description: String { rawValue }
}
