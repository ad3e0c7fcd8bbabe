/// A refusal that the client is told about, as a problem document (RFC 9457).
///
/// Thrown by handlers; everything else that is thrown becomes `internal` without a word of why.
public struct Problem: Error, Sendable, Equatable, CustomStringConvertible {
  /// The HTTP status.
  public var status: Int
  /// A stable slug; on the wire `typeURI`.
  public var type: String
  /// The kind of the problem in words; the same for every occurrence.
  public var title: String
  /// What went wrong this time and what to do.
  public var detail: String
  /// Extra members of the document.
  public var members: [String: JSONValue]
  /// Extra header fields, such as `Retry-After`.
  public var headers: [(String, String)]

  /// Makes a problem.
  ///
  /// - Parameters:
  ///   - type: A slug: lower-case words joined by hyphens.
  ///   - retryAfter: Adds `Retry-After`, rounded up to whole seconds.
  public init(
    status: Int, type: String, title: String, detail: String,
    members: [String: JSONValue] = [:], headers: [(String, String)] = [],
    retryAfter: Duration? = nil
  ) {
    self.status = status
    self.type = type
    self.title = title
    self.detail = detail
    self.members = members
    self.headers = headers
    if let retryAfter { self.headers.append(retryAfterField(retryAfter)) }
  }

  /// The media type of problem documents.
  public static let mediaType = "application/problem+json"

  /// `type` of the document: `urn:purser:problem:<slug>`.
  public var typeURI: String { "urn:purser:problem:\(type)" }

  /// The document, with its members in the order of RFC 9457 and the extra ones after them.
  public var body: [UInt8] {
    var text = "{\"type\":"
    JSONValue.append(typeURI, to: &text)
    text += ",\"title\":"
    JSONValue.append(title, to: &text)
    text += ",\"status\":\(status),\"detail\":"
    JSONValue.append(detail, to: &text)
    for (name, value) in members.sorted(by: { $0.key < $1.key })
    where !["type", "title", "status", "detail"].contains(name) {
      text += ","
      JSONValue.append(name, to: &text)
      text += ":"
      value.append(to: &text)
    }
    text += "}"
    return Array(text.utf8)
  }

  /// The answer that carries the document.
  public var response: Response {
    Response(status: status, headers: [("Content-Type", Self.mediaType)] + headers, body: body)
  }

  /// Status, slug and detail, for logs.
  public var description: String { "\(status) \(type): \(detail)" }

  /// Equal in everything the client sees.
  public static func == (left: Problem, right: Problem) -> Bool {
    left.body == right.body && left.headers.elementsEqual(right.headers, by: ==)
  }
}

/// `Retry-After` in whole seconds, rounded up, at least 1 (RFC 9110 §10.2.3).
public func retryAfterField(_ duration: Duration) -> (String, String) {
  let (seconds, attoseconds) = duration.components
  return ("Retry-After", String(max(1, seconds + (attoseconds > 0 ? 1 : 0))))
}
