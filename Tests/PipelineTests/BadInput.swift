import Cryptography
import Events
import FoundationEssentials
import HTTPClient
import Kafka
import Testing

/// Keys of less than all scopes, and what a refusal must look like.
enum BadInput {
  static let readerKey = "a-key-that-only-reads-rights"
  static let shopKey = "a-key-that-only-places-orders"

  /// Settings that add those keys beside the key of the stack.
  static func keys(of admin: String) -> [String: String] {
    [
      "PURSER_API_KEYS": """
      purser:admin:\(SHA256.hex(admin))
      reader:entitlements:read:\(SHA256.hex(readerKey))
      shop:orders:\(SHA256.hex(shopKey))
      """
    ]
  }

  struct Problem: Decodable {
    let type: String
    let title: String
    let status: Int
    let detail: String
    let reason: String?
  }

  /// Reads a problem document (RFC 9457) and holds it against what it must say.
  @discardableResult
  static func expect(_ answer: HTTPResponse, _ status: Int, _ type: String) throws -> Problem {
    let text = String(decoding: answer.body.prefix(500), as: UTF8.self)
    #expect(answer.status == status, "\(text)")
    #expect(answer.header("Content-Type") == "application/problem+json")
    let problem = try JSONDecoder().decode(Problem.self, from: Data(answer.body))
    #expect(problem.type == "urn:purser:problem:\(type)", "\(text)")
    #expect(problem.status == answer.status && !problem.title.isEmpty && !problem.detail.isEmpty)
    return problem
  }
}

extension Way {
  /// How many requests a service has answered with this status.
  func answers(_ service: String, _ status: Int) async throws -> Int {
    try await metric(service) {
      $0.hasPrefix("http_requests_total{") && $0.contains("status=\"\(status)\"")
    }
  }

  /// The value of one series of `/metrics`; 0 while it is not there.
  func metric(_ service: String, _ series: String) async throws -> Int {
    try await metric(service) { $0.hasPrefix(series + " ") }
  }

  private func metric(_ service: String, where test: (Substring) -> Bool) async throws -> Int {
    let answer = try await send("GET", service, "/metrics", key: "")
    return String(decoding: answer.body, as: UTF8.self).split(separator: "\n").filter(test)
      .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
  }

  /// Everything that is stored and published, to see that nothing was added.
  func contents() async throws -> Contents {
    Contents(rows: try await stores().rows, ends: try await journal.ends())
  }
}

/// Rows of all tables and ends of all logs.
struct Contents: Equatable {
  let rows: [String: Int64]
  let ends: [TopicPartition: Int64]
}
