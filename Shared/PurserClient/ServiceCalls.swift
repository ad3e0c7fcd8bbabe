#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where the services are, and who asks.
public struct PurserConfiguration: Sendable {
  /// The order-service, such as `https://shop.example.com`.
  public var orders: String
  /// The entitlement-service; often the same host behind one proxy.
  public var entitlements: String
  /// The app team's own id of the customer.
  public var customer: String
  /// The app; needed only where the services know several.
  public var bundleId: String?
  /// The app's own version (`CFBundleShortVersionString`): what is shown and sold may hang on it.
  ///
  /// Without one only what every version may sell.
  public var appVersion: String?
  /// A bearer token for each request: the customer's own JWT, fetched anew when it runs out.
  public var token: @Sendable () async throws -> String?
  /// How long the server may wait for an outcome before it answers "not yet", in seconds.
  public var wait = 20
  /// How often a request is sent before it counts as unreachable.
  public var tries = 4
  /// Waits between two tries; seconds.
  public var pause: @Sendable (Double) async throws -> Void = { seconds in
    try await Task.sleep(nanoseconds: UInt64(seconds * 1_000_000_000))
  }

  /// Makes a configuration.
  public init(
    orders: String, entitlements: String, customer: String, bundleId: String? = nil,
    appVersion: String? = nil, token: @escaping @Sendable () async throws -> String?
  ) {
    self.orders = orders
    self.entitlements = entitlements
    self.customer = customer
    self.bundleId = bundleId
    self.appVersion = appVersion
    self.token = token
  }
}

/// Requests to the services: what is temporary is tried again, what is final is told.
struct ServiceCalls: Sendable {
  let configuration: PurserConfiguration
  let transport: any Transport

  /// An answer that is a success, or 304.
  struct Answer {
    let status: Int
    let tag: String?
    let body: Data

    func read<Value: Decodable>(_ type: Value.Type = Value.self) throws(PurserError) -> Value {
      do {
        return try JSONDecoder().decode(type, from: body)
      } catch {
        throw .unreadable("\(type): \(error)")
      }
    }
  }

  func post(_ path: String, _ body: some Encodable, headers: [String: String] = [:]) async throws
    -> Answer
  {
    var headers = headers
    headers["Content-Type"] = "application/json"
    return try await send(
      "POST", configuration.orders + path, headers, try JSONEncoder().encode(body))
  }

  func get(_ url: String, tag: String?) async throws -> Answer {
    try await send("GET", url, tag.map { ["If-None-Match": $0] } ?? [:], nil)
  }

  /// - Throws: `PurserError`.
  private func send(_ method: String, _ url: String, _ headers: [String: String], _ body: Data?)
    async throws -> Answer
  {
    var fault = "nothing was sent"
    for attempt in 1...max(1, configuration.tries) {
      var wait = min(8, 0.25 * Double(1 << attempt))
      do {
        var request = TransportRequest(method: method, url: url, headers: headers, body: body)
        request.timeout = Double(configuration.wait) + 15
        if let token = try await configuration.token() {
          request.headers["Authorization"] = "Bearer \(token)"
        }
        let response = try await transport.send(request)
        if response.status < 300 || response.status == 304 {
          return Answer(
            status: response.status, tag: response.headers["etag"], body: response.body)
        }
        guard Self.isTemporary(response.status) else { throw Self.refusal(response) }
        fault = "status \(response.status)"
        if let after = response.headers["retry-after"].flatMap({ Double($0) }) {
          // Whoever is told to wait long shall not keep the customer waiting.
          guard after <= 30 else { throw PurserError.unreachable(fault) }
          wait = after
        }
      } catch let error as PurserError {
        throw error
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        fault = String(describing: error)
      }
      if attempt < configuration.tries { try await configuration.pause(wait) }
    }
    throw PurserError.unreachable(fault)
  }

  private static func isTemporary(_ status: Int) -> Bool {
    status == 408 || status == 429 || status >= 500
  }

  private static func refusal(_ response: TransportResponse) -> PurserError {
    struct Problem: Decodable {
      let type: String
      let detail: String?
      let finish: Bool?
    }
    guard let problem = try? JSONDecoder().decode(Problem.self, from: response.body) else {
      return .unreadable("status \(response.status) without a problem document")
    }
    let type = problem.type.split(separator: ":").last.map { String($0) } ?? problem.type
    return .refused(
      PurserError.Refusal(
        type: type, status: response.status, detail: problem.detail ?? "", finish: problem.finish))
  }

  /// A path with a query of the parameters that are given.
  static func path(_ path: String, _ parameters: KeyValuePairs<String, String?>) -> String {
    let given = parameters.compactMap { name, value in
      value.map { "\(name)=\(escaped($0))" }
    }
    return given.isEmpty ? path : "\(path)?\(given.joined(separator: "&"))"
  }

  /// A text as it may stand in a path or a query.
  static func escaped(_ text: String) -> String {
    text.utf8.map { byte -> String in
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
        return String(UnicodeScalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }.joined()
  }
}
