/// An HTTP method (RFC 9110 §9); any token is allowed, so that unknown ones can be answered 405.
public struct Method: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The token, in the case in which it was sent.
  public let rawValue: String

  /// Takes a token.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// GET.
  public static let get = Method(rawValue: "GET")
  /// HEAD.
  public static let head = Method(rawValue: "HEAD")
  /// POST.
  public static let post = Method(rawValue: "POST")
  /// PUT.
  public static let put = Method(rawValue: "PUT")
  /// PATCH.
  public static let patch = Method(rawValue: "PATCH")
  /// DELETE.
  public static let delete = Method(rawValue: "DELETE")
  /// OPTIONS.
  public static let options = Method(rawValue: "OPTIONS")

  /// The token.
  public var description: String { rawValue }
}
