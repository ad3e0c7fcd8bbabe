import AppStore
import HTTPServer
import Synchronization

/// Something that goes wrong at Apple's, on demand.
struct APIFault: Codable, Sendable, Equatable {
  /// What goes wrong.
  enum Kind: String, Codable, CaseIterable, Sendable {
    /// The answer comes late.
    case slow
    /// What was asked for is done at once, and the answer comes late.
    case late
    /// 503 without a word.
    case down
    /// Any HTTP status, with a page instead of JSON.
    case status
    /// One of Apple's error codes.
    case error
    /// Every token is refused.
    case unauthorized
    /// 429 with Apple's `Retry-After`.
    case rateLimit = "rate-limit"
    /// The answer breaks off in the middle.
    case garbled
    /// All that is signed says the other environment.
    case foreignEnvironment = "foreign-environment"
  }

  var kind: Kind
  /// An endpoint's name, such as `transaction-info`; nil for all of them.
  var endpoint: String?
  /// How many requests it still meets; nil until it is taken back.
  var count: Int?
  /// Of `slow` and `late`: how late; of `rate-limit`: when the caller may come again.
  var milliseconds: Int?
  /// Of `status`.
  var status: Int?
  /// Of `error`.
  var errorCode: Int64?

  /// What is answered in place of the endpoint; nil if it is to be asked all the same.
  func answer(now: Int64) async throws -> Response? {
    switch kind {
    case .slow:
      try await Task.sleep(for: .milliseconds(milliseconds ?? 1_000))
      return nil
    case .down: return Response(status: 503)
    case .status:
      return .text(
        "<html><body>not Apple</body></html>", status: status ?? 502,
        contentType: "text/html")
    case .error:
      return APIRefusal(APIErrorCode(rawValue: errorCode ?? 5_000_001)).response
    case .unauthorized: return APIRefusal.unauthenticated
    case .rateLimit:
      return APIRefusal(.rateLimitExceeded, retryAt: now + Int64(milliseconds ?? 1_000)).response
    case .late, .garbled, .foreignEnvironment: return nil
    }
  }

  /// What becomes of the endpoint's own answer.
  func spoil(_ response: Response) async throws -> Response {
    if kind == .late { try await Task.sleep(for: .milliseconds(milliseconds ?? 1_000)) }
    guard kind == .garbled else { return response }
    var response = response
    response.body = Array(response.body.prefix(max(1, response.body.count / 2)))
    return response
  }
}

/// The faults that were asked for, each met by the requests that it names.
final class FaultPlan: Sendable {
  /// Faults at a time.
  static let limit = 100
  private let faults = Mutex<[APIFault]>([])

  /// All that are in force.
  var all: [APIFault] { faults.withLock { $0 } }

  /// Whether signed answers say the other environment.
  var isForeign: Bool { faults.withLock { $0.contains { $0.kind == .foreignEnvironment } } }

  /// Adds a fault behind those before it; false when there are too many.
  func add(_ fault: APIFault) -> Bool {
    faults.withLock { faults in
      guard faults.count < Self.limit else { return false }
      faults.append(fault)
      return true
    }
  }

  func clear() { faults.withLock { $0 = [] } }

  /// The first fault that meets a request of the endpoint.
  func take(_ endpoint: String) -> APIFault? {
    faults.withLock { faults in
      let index = faults.firstIndex {
        ($0.endpoint == nil || $0.endpoint == endpoint) && $0.kind != .foreignEnvironment
      }
      guard let index else { return nil }
      let fault = faults[index]
      if let count = fault.count {
        if count <= 1 {
          faults.remove(at: index)
        } else {
          faults[index].count = count - 1
        }
      }
      return fault
    }
  }
}
