import FoundationEssentials
import PurserClient
import Synchronization
import Testing

/// A network that answers as a test tells it to.
final class FakeNetwork: Transport {
  enum Answer: Sendable {
    case status(Int, String)
    case lost
  }

  struct Lost: Error {}

  private struct State {
    /// How many restores are answered as if everything was recorded.
    var restores = 0
    var restored = 0
    var answers: [(part: String, answers: [Answer])] = []
    var seen: [TransportRequest] = []
  }

  private let state = Mutex(State())

  /// Requests as `METHOD path`, in their order.
  var seen: [String] {
    state.withLock { $0.seen }.map { "\($0.method) \($0.url.dropFirst("http://x".count))" }
  }

  var requests: [TransportRequest] { state.withLock { $0.seen } }

  /// The answers to requests whose URL holds a text, one after another; the last one stays.
  func on(_ part: String, _ answers: Answer...) {
    state.withLock { state in
      state.answers.removeAll { $0.part == part }
      state.answers.append((part, answers))
    }
  }

  /// Answers restores as the service does: an item for each transaction, all recorded.
  ///
  /// Transactions count up from 100 through all requests.
  func answersRestores(times: Int = .max) { state.withLock { $0.restores = times } }

  private func restored(_ request: TransportRequest) -> TransportResponse? {
    struct Body: Decodable { let signedTransactions: [String] }
    guard request.url.hasSuffix("/v1/restores"), let data = request.body,
      let body = try? JSONDecoder().decode(Body.self, from: data)
    else { return nil }
    return state.withLock { state in
      guard state.restores > 0 else { return nil }
      state.restores -= 1
      let before = state.restored
      state.restored += body.signedTransactions.count
      let items = body.signedTransactions.indices.map { index in
        #"{"place":"signedTransactions[\#(index)]","outcome":"already-recorded","finish":true,"#
          + #""transactionId":"\#(100 + before + index)"}"#
      }
      let text = #"{"id":"r\#(before)","decided":true,"items":[\#(items.joined(separator: ","))]}"#
      return TransportResponse(status: 200, body: Data(text.utf8))
    }
  }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    if let restored = restored(request) {
      state.withLock { $0.seen.append(request) }
      return restored
    }
    let answer: Answer? = state.withLock { state in
      state.seen.append(request)
      // The part that stands last in the URL is the one that is meant.
      func end(_ place: Int) -> String.Index? {
        request.url.firstRange(of: state.answers[place].part)?.upperBound
      }
      guard
        let place = state.answers.indices.filter({ end($0) != nil })
          .max(by: { (end($0) ?? request.url.startIndex) < (end($1) ?? request.url.startIndex) })
      else { return nil }
      let next = state.answers[place].answers.first
      if state.answers[place].answers.count > 1 { state.answers[place].answers.removeFirst() }
      return next
    }
    switch answer {
    case .status(let status, let body)?:
      return TransportResponse(
        status: status, headers: ["ETag": "\"1\"", "Retry-After": "3"], body: Data(body.utf8))
    case .lost?, nil: throw Lost()
    }
  }
}

/// A store whose customer does what a test says.
actor FakeStore: PurchaseStore {
  var next: StorePurchase
  private(set) var finished: [String] = []
  private(set) var tokens: [String] = []
  private var open: [StoreTransaction]

  init(_ next: StorePurchase = .cancelled, open: [StoreTransaction] = []) {
    self.next = next
    self.open = open
  }

  func purchase(_ productId: String, quantity: Int, token: String) -> StorePurchase {
    tokens.append(token)
    return next
  }

  func unfinished() -> [StoreTransaction] { open }
  func updates() -> AsyncStream<StoreTransaction> { AsyncStream { $0.finish() } }
  func owned() -> [StoreTransaction] { open }
  func sync() {}

  func finish(_ transaction: StoreTransaction) {
    finished.append(transaction.id)
    open.removeAll { $0.id == transaction.id }
  }
}

/// Copies in memory.
final class MemoryCopies: LocalCopies {
  private let kept = Mutex<[String: Data]>([:])
  func read(_ name: String) -> Data? { kept.withLock { $0[name] } }
  func write(_ name: String, _ data: Data?) { kept.withLock { $0[name] = data } }
}

/// A customer's purchases over the fake network.
struct FakeWorld {
  let network = FakeNetwork()
  let store: FakeStore
  let copies = MemoryCopies()
  let pauses = Pauses()
  let purser: Purser

  static let order = """
    {"id":"0f0e0d0c-0b0a-4908-8706-050403020100","customer":"alice","productId":"pro",
     "quantity":1,"state":"created","mismatched":false}
    """

  static let transaction = StoreTransaction(
    id: "7", productId: "pro", signed: "a.b.c",
    appAccountToken: "0F0E0D0C-0B0A-4908-8706-050403020100")

  init(
    _ next: StorePurchase = .cancelled, open: [StoreTransaction] = [], bundleId: String? = nil,
    appVersion: String? = nil, now: @escaping @Sendable () -> Int64 = { 0 }
  ) {
    store = FakeStore(next, open: open)
    var configuration = PurserConfiguration(
      orders: "http://x", entitlements: "http://x", customer: "alice", bundleId: bundleId,
      appVersion: appVersion, token: { "secret" })
    configuration.pause = { [pauses] in pauses.add($0) }
    purser = Purser(
      configuration: configuration, transport: network, store: store, copies: copies, now: now)
    network.on("/v1/orders", .status(201, Self.order))
    network.on(
      "/entitlements", .status(200, #"{"customer":"alice","version":1,"entitlements":[]}"#))
  }
}

/// The pauses that were made instead of sleeping.
final class Pauses: Sendable {
  private let all = Mutex<[Double]>([])
  func add(_ seconds: Double) { all.withLock { $0.append(seconds) } }
  var seconds: [Double] { all.withLock { $0 } }
}
