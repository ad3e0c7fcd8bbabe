#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A request to one of Purser's services.
public struct TransportRequest: Sendable, Equatable {
  /// The method, such as `POST`.
  public var method: String
  /// An absolute URL.
  public var url: String
  /// Header fields.
  public var headers: [String: String]
  /// The body; nil for none.
  public var body: Data?
  /// How long the whole may take, in seconds.
  public var timeout: Double

  /// Makes a request.
  public init(
    method: String, url: String, headers: [String: String] = [:], body: Data? = nil,
    timeout: Double = 30
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeout = timeout
  }
}

/// An answer, whatever its status.
public struct TransportResponse: Sendable, Equatable {
  /// The HTTP status.
  public var status: Int
  /// Header fields; names in lower case.
  public var headers: [String: String]
  /// The body.
  public var body: Data

  /// Makes an answer.
  public init(status: Int, headers: [String: String] = [:], body: Data = Data()) {
    self.status = status
    self.headers = Dictionary(
      headers.map { ($0.key.lowercased(), $0.value) }, uniquingKeysWith: { first, _ in first })
    self.body = body
  }
}

/// How requests reach the services: `URLSession` on Apple's systems, anything else elsewhere.
public protocol Transport: Sendable {
  /// Sends a request.
  ///
  /// - Throws: Any error when there is no answer; an answer of any status is returned.
  func send(_ request: TransportRequest) async throws -> TransportResponse
}
