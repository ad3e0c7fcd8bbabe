import AppStore
import Cryptography
import HTTPClient
import Synchronization
import TestSupport

/// Time that passes only when someone sleeps or a test moves it.
final class APIClock: Sendable {
  private struct State {
    var passed: Duration = .zero
    var sleeps: [Duration] = []
  }

  static let start: Int64 = 1_700_000_000_000
  private let state = Mutex(State())
  private let random: Double

  /// `random` is what every draw gives.
  init(random: Double = 0.5) { self.random = random }

  /// The pauses that were made.
  var sleeps: [Duration] { state.withLock { $0.sleeps } }

  func advance(by time: Duration) { state.withLock { $0.passed += time } }

  func now() -> Int64 {
    let parts = state.withLock { $0.passed }.components
    return Self.start + parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000
  }

  var timing: APITiming {
    var timing = APITiming { [self] in now() }
    timing.uptime = { [self] in state.withLock { $0.passed } }
    timing.sleep = { [self] time in
      try Task.checkCancellation()
      state.withLock { state in
        state.passed += time
        state.sleeps.append(time)
      }
    }
    timing.random = { [random] in random }
    return timing
  }
}

/// Plays Apple: answers with what stands in its script, and keeps what it was asked.
final class ScriptedApple: Sendable {
  typealias Turn = Result<HTTPResponse, HTTPClientError>

  private struct State {
    var asked: [HTTPRequest] = []
    var turns: [Turn]
  }

  private let state: Mutex<State>

  /// The last turn repeats for ever.
  init(_ turns: [Turn]) { state = Mutex(State(turns: turns)) }

  convenience init(_ responses: HTTPResponse...) { self.init(responses.map { .success($0) }) }

  /// The requests that came.
  var asked: [HTTPRequest] { state.withLock { $0.asked } }

  func answer(_ request: HTTPRequest) throws(HTTPClientError) -> HTTPResponse {
    let turn = state.withLock { state -> Turn? in
      state.asked.append(request)
      return state.turns.count > 1 ? state.turns.removeFirst() : state.turns.first
    }
    guard let turn else {
      throw HTTPClientError(kind: .other, origin: "script", detail: "nothing to say")
    }
    return try turn.get()
  }
}

extension HTTPResponse {
  /// An answer of a file of Apple's tests.
  static func file(_ name: String, status: Int = 200) throws -> HTTPResponse {
    HTTPResponse(status: status, body: try TestData.bytes("apple/models/\(name).json"))
  }

  /// Apple's error answer.
  static func refusal(_ code: Int64, retryAfter: String? = nil) -> HTTPResponse {
    HTTPResponse(
      status: Int(code / 10_000), headers: retryAfter.map { [("Retry-After", $0)] } ?? [],
      body: Array("{\"errorCode\":\(code),\"errorMessage\":\"Words.\"}".utf8))
  }

  static func json(_ text: String) -> HTTPResponse {
    HTTPResponse(status: 200, body: Array(text.utf8))
  }
}

/// An app's client in a scripted world.
struct APIWorld {
  static let localTesting = AppEnvironment.localTesting
  let clock: APIClock
  let apple: ScriptedApple
  let key: APIKey
  var context: APIContext

  init(_ apple: ScriptedApple, clock: APIClock = APIClock()) throws {
    self.apple = apple
    self.clock = clock
    key = try APIKey(
      issuerId: "99b16628-15e4-4668-972b-eeff55eeff55", keyId: "ABCDEFGHIJ",
      privateKey: PrivateKey(generate: .p256))
    context = APIContext(
      bases: try APIBases([.localTesting: "https://local-testing-base-url/"]),
      timing: clock.timing
    ) { (request) throws(HTTPClientError) in try apple.answer(request) }
  }

  func client(_ environment: AppEnvironment = localTesting) throws -> AppStoreServerAPI {
    try AppStoreServerAPI(
      bundleId: "com.example", environment: environment, key: key, context: context)
  }
}

/// The error that an action ends with; nil if it goes well.
func apiError(_ action: () async throws(APIError) -> Void) async -> APIError? {
  do {
    try await action()
    return nil
  } catch {
    return error
  }
}

/// Header and claims of a compact JWS whose signature stands.
func verifiedParts(_ jws: String, by key: PublicKey) throws -> (header: JSONTree, claims: JSONTree)
{
  struct BadSignature: Error {}
  let parts = jws.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
  guard parts.count == 3, let header = Base64URL.decode(parts[0]),
    let claims = Base64URL.decode(parts[1]), let signature = Base64URL.decode(parts[2]),
    key.verifyES256(signature: signature, over: Array("\(parts[0]).\(parts[1])".utf8))
  else { throw BadSignature() }
  return (try JSONTree(header), try JSONTree(claims))
}
