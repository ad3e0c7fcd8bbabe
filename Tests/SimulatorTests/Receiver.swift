import AppStore
import HTTPServer
import ServiceRuntime
import Synchronization

/// What a service's notification route is to the simulator: takes POSTs and answers as told.
final class Receiver: Sendable {
  private struct Body: Decodable { let signedPayload: String }

  private struct State {
    var payloads: [String] = []
    var answers: [Int] = []
  }

  private final class Record: Sendable {
    let state: Mutex<State>
    init(answers: [Int]) { state = Mutex(State(answers: answers)) }
  }

  private let record: Record
  private let server: Server
  private let running: Task<Void, any Error>

  /// - Parameter answers: Statuses of the first answers; all others are 200.
  init(answers: [Int] = []) throws {
    let record = Record(answers: answers)
    var router = Router()
    router.on(.post, "/notifications", scope: nil) { request in
      let body: Body = try request.json()
      let status = record.state.withLock { state in
        state.payloads.append(body.signedPayload)
        return state.answers.isEmpty ? 200 : state.answers.removeFirst()
      }
      return .empty(status)
    }
    let server = try Server(port: 0, router: router, log: .silent, metrics: Metrics())
    self.record = record
    self.server = server
    running = Task { try await server.run() }
  }

  var url: String { "http://127.0.0.1:\(server.port)/notifications" }

  /// All that came, in their order.
  var payloads: [String] { record.state.withLock { $0.payloads } }

  func stop() async { await server.stop(by: .after(.seconds(5))) }

  /// Waits for so many POSTs; type and subtype of each.
  func words(
    _ count: Int, _ verifier: SignedDataVerifier
  ) async throws -> [String] {
    try await notifications(count, verifier).map { verified in
      let payload = verified.notification.payload
      return payload.notificationType.map {
        "\($0)\(payload.subtype.map { "/\($0)" } ?? "")"
      } ?? ""
    }
  }

  func notifications(
    _ count: Int, _ verifier: SignedDataVerifier
  ) async throws -> [VerifiedNotification] {
    let payloads = try await eventually("\(count) notifications") {
      let payloads = self.payloads
      return payloads.count >= count ? payloads : nil
    }
    return try payloads.map { try verifier.verifyNotification($0) }
  }
}
