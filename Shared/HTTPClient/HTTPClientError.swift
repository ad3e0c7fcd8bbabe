/// Why there is no answer.
///
/// An answer of status 500 is an answer, not an error.
public struct HTTPClientError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of failure.
  public enum Kind: String, Sendable {
    /// The URL is not an absolute `http` or `https` URL, or a header field holds control characters.
    case invalidRequest
    /// The host's name has no address.
    case nameUnknown
    /// The host's address is not public, and only public ones may be connected to.
    case forbiddenAddress
    /// The host does not accept the connection.
    case cannotConnect
    /// The time ran out; the server may have done what was asked.
    case timedOut
    /// The server's certificate is not trusted, or no common version of TLS was found.
    case tls
    /// The connection broke; the server may have done what was asked.
    case cut
    /// The answer is longer than the client takes.
    case tooLarge
    /// Too many requests wait already.
    case busy
    /// The task was cancelled.
    case cancelled
    /// The client was closed.
    case closed
    /// The client's own settings cannot be used, such as a CA file.
    case configuration
    /// Anything else that curl reports.
    case other
  }

  /// The kind of failure.
  public let kind: Kind
  /// Scheme, host and port of the URL; never its path or query, which may hold secrets.
  public let origin: String
  /// What happened, in curl's or our words.
  public let detail: String

  /// Makes an error.
  public init(kind: Kind, origin: String, detail: String) {
    self.kind = kind
    self.origin = origin
    self.detail = detail
  }

  /// Whether the same request may go well later.
  public var isRetryable: Bool {
    switch kind {
    case .nameUnknown, .cannotConnect, .timedOut, .cut, .busy: true
    case .invalidRequest, .forbiddenAddress, .tls, .tooLarge, .cancelled, .closed, .configuration,
      .other:
      false
    }
  }

  /// Whether the server may have acted on the request.
  public var mayHaveReached: Bool {
    switch kind {
    case .timedOut, .cut, .tooLarge, .cancelled, .closed, .other: true
    case .invalidRequest, .nameUnknown, .forbiddenAddress, .cannotConnect, .tls, .busy,
      .configuration:
      false
    }
  }

  /// The fault and the place.
  public var description: String { "\(kind.rawValue) (\(origin)): \(detail)" }

  /// Scheme and authority of a URL, without user and password.
  static func origin(of url: String) -> String {
    guard let scheme = ["https://", "http://"].first(where: url.lowercased().hasPrefix) else {
      return "no http URL"
    }
    let rest = url.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] }
    return scheme + (host ?? authority)
  }
}
