/// A request to the App Store Server API as a value: what is sent, and how its answer is read.
///
/// Every request may be sent again after a lost answer: those that change something carry their own
/// identifier or set a value. A repeated test notification arrives twice, no more.
public struct APIRequest<Answer: Sendable>: Sendable {
  /// The HTTP method.
  public let method: String
  /// The path from the base URL on, percent-encoded.
  public let path: String
  /// Query parameters in order; names may repeat.
  public let query: [(name: String, value: String)]
  /// JSON; nil for no body.
  public let body: [UInt8]?
  /// The endpoint, for limits and words.
  public let endpoint: APIEndpoint
  let read: @Sendable ([UInt8]) throws(PayloadFault) -> Answer

  /// Path and query as they are sent.
  public var target: String {
    guard !query.isEmpty else { return path }
    let pairs = query.map { "\(PercentText.encode($0.name))=\(PercentText.encode($0.value))" }
    return path + "?" + pairs.joined(separator: "&")
  }
}

extension APIRequest where Answer: Payload {
  init(
    _ endpoint: APIEndpoint, _ method: String, _ path: String,
    query: [(name: String, value: String)] = [], body: [UInt8]? = nil
  ) {
    self.init(
      method: method, path: path, query: query, body: body, endpoint: endpoint
    ) { (json) throws(PayloadFault) in try Answer(json: json) }
  }
}

extension APIRequest where Answer == NoAnswer {
  /// A request whose success has no body; what stands there is ignored.
  init(_ endpoint: APIEndpoint, _ method: String, _ path: String, body: [UInt8]? = nil) {
    self.init(
      method: method, path: path, query: [], body: body, endpoint: endpoint
    ) { (_) throws(PayloadFault) in NoAnswer() }
  }
}

/// Success without a body.
public struct NoAnswer: Sendable, Equatable {}
