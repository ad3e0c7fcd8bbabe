import AppStore
import Cryptography
import FoundationEssentials
import Glibc
import HTTPClient
import Processes
import ServiceRuntime
import TestSupport

/// A simulator that answers, with a folder of its own.
final class RunningSimulator: Sendable {
  let folder: String
  let process: ChildProcess
  let port: Int
  private let client = HTTPClient(workers: 2, name: "test", log: .silent, metrics: Metrics())

  /// Starts it and waits until it is healthy.
  init(notificationURL: String? = nil, settings: [String: String] = [:]) async throws {
    folder = try Self.makeFolder()
    try TestStore.storeKit.write(
      toFile: "\(folder)/Store.storekit", atomically: true, encoding: .utf8)
    var environment = [
      "SIMULATOR_HTTP_PORT": "0", "SIMULATOR_CATALOG": "\(folder)/Store.storekit",
      "SIMULATOR_BUNDLE_ID": "com.example.app", "SIMULATOR_ROOT_FILE": "\(folder)/root.der",
      "SIMULATOR_CLOCK_FILE": "\(folder)/clock", "SIMULATOR_CLOCK_PAUSE_MS": "0",
      "SIMULATOR_NOTIFICATION_URL": notificationURL ?? "",
      "SIMULATOR_API_KEY_FILE": "\(folder)/key.p8",
    ]
    environment.merge(settings) { _, new in new }
    let log = "\(folder)/log"
    let process = try SimulatorProcess.start(environment: environment, log: log)
    self.process = process
    port = try await eventually("the simulator listens; see \(log)") {
      guard process.ending.current == nil else {
        throw NotInTime(description: "it ended: \(RunningSimulator.text(log))")
      }
      let lines = RunningSimulator.text(log).split(separator: "\n")
      guard let line = lines.first(where: { $0.contains("\"listening\"") }),
        let start = line.firstRange(of: "\"port\":")
      else { return nil }
      return Int(line[start.upperBound...].prefix { $0.isNumber })
    }
  }

  deinit {
    process.send(SIGKILL)
    try? FileManager.default.removeItem(atPath: folder)
  }

  static func text(_ path: String) -> String {
    String(decoding: LogFile.bytes(path), as: UTF8.self)
  }

  private static func makeFolder() throws -> String {
    let folder = TestFolder.path("simulator")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false)
    return folder
  }

  /// A verifier that pins the file of the root, as the services do.
  func verifier(_ environment: AppEnvironment = .sandbox) throws -> SignedDataVerifier {
    let der = FileManager.default.contents(atPath: "\(folder)/root.der") ?? Data()
    return try SignedDataVerifier(
      roots: [Certificate(der: [UInt8](der))],
      apps: [
        AppIdentity(bundleId: "com.example.app", appAppleId: 77, environments: [environment])
      ]
    ) { SystemClock().now() }
  }

  /// An answer as JSON, with its status.
  func get(_ path: String) async throws -> Answer {
    Answer(try await client.send(HTTPRequest(url: "http://127.0.0.1:\(port)\(path)")))
  }

  func post(_ path: String, _ body: String = "") async throws -> Answer {
    Answer(
      try await client.send(
        HTTPRequest(
          method: "POST", url: "http://127.0.0.1:\(port)\(path)",
          headers: [("Content-Type", "application/json")], body: Array(body.utf8))))
  }
}

/// An answer of the control API.
struct Answer: Sendable {
  /// The members that the tests look at.
  struct Body: Decodable, Sendable {
    var type: String?
    var detail: String?
    var transactionId: String?
    var originalTransactionId: String?
    var signedTransaction: String?
    var signedRenewalInfo: String?
    var signedPayload: String?
    var notificationUUID: String?
    var expiresDate: Int64?
    var status: Int?
    var state: String?
    var now: Int64?
    var offset: Int64?
    var expected: String?
    var notifications: [Body]?
    var notificationType: String?
    var subtype: String?
    var sendAttempts: [Attempt]?
    var transactionIds: [String]?
    var products: [Body]?
    var productId: String?
  }

  struct Attempt: Decodable, Sendable {
    var attemptDate: Int64
    var sendAttemptResult: String
    var status: Int?
    var isRedelivery: Bool
  }

  let status: Int
  let text: String
  let body: Body

  init(_ response: HTTPResponse) {
    status = response.status
    text = String(decoding: response.body, as: UTF8.self)
    body = (try? JSONDecoder().decode(Body.self, from: Data(response.body))) ?? Body()
  }
}

/// Waits until something is there, at most 20 s.
func eventually<Value: Sendable>(
  _ what: String, _ look: @Sendable () async throws -> Value?
) async throws -> Value {
  let deadline = Deadline.after(.seconds(20))
  while true {
    if let value = try await look() { return value }
    guard !deadline.hasPassed else {
      throw NotInTime(description: "not in time: \(what)")
    }
    try await Task.sleep(for: .milliseconds(5))
  }
}
