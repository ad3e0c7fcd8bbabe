#if canImport(Darwin)
  public import Foundation

  /// The transport on Apple's systems.
  public struct URLSessionTransport: Transport {
    private let session: URLSession

    /// Makes a transport over a session.
    public init(session: URLSession = .shared) { self.session = session }

    /// Sends a request.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
      guard let url = URL(string: request.url) else { throw URLError(.badURL) }
      var sent = URLRequest(url: url, timeoutInterval: request.timeout)
      sent.httpMethod = request.method
      sent.httpBody = request.body
      for (name, value) in request.headers { sent.setValue(value, forHTTPHeaderField: name) }
      let (data, answer) = try await session.data(for: sent)
      guard let http = answer as? HTTPURLResponse else { throw URLError(.badServerResponse) }
      var headers: [String: String] = [:]
      for (name, value) in http.allHeaderFields {
        if let name = name as? String, let value = value as? String { headers[name] = value }
      }
      return TransportResponse(status: http.statusCode, headers: headers, body: data)
    }
  }
#endif
