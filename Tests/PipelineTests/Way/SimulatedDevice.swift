import FoundationEssentials
import HTTPClient
import PurserClient

@testable import purser

/// What one Apple account has bought, on all of its devices.
actor AppleAccount {
  private(set) var owned: [StoreTransaction] = []

  func add(_ transaction: StoreTransaction) { owned.append(transaction) }
}

/// A device with an Apple account: the simulator is the store, a customer decides.
actor SimulatedDevice: PurchaseStore {
  enum Customer { case pays, givesUp, asksParent }

  private let way: Way
  private let account: AppleAccount
  private var customer = Customer.pays
  private var open: [StoreTransaction] = []
  private var asked: (product: String, quantity: Int, token: String)?
  private var listener: AsyncStream<StoreTransaction>.Continuation?

  init(way: Way, account: AppleAccount) {
    self.way = way
    self.account = account
  }

  /// All that the account bought, finished or not.
  var everything: [StoreTransaction] { get async { await account.owned } }

  func set(_ customer: Customer) { self.customer = customer }

  func purchase(_ productId: String, quantity: Int, token: String) async throws -> StorePurchase {
    switch customer {
    case .givesUp: return .cancelled
    case .asksParent:
      asked = (productId, quantity, token)
      return .pending
    case .pays: return .purchased(try await pay(productId, quantity, token))
    }
  }

  /// The parent says yes: the transaction comes as an update.
  func approve() async throws {
    guard let asked else { throw NotInTime(description: "nobody asked a parent") }
    listener?.yield(try await pay(asked.product, asked.quantity, asked.token))
  }

  func unfinished() -> [StoreTransaction] { open }

  func updates() -> AsyncStream<StoreTransaction> {
    AsyncStream { listener = $0 }
  }

  func owned() async -> [StoreTransaction] { await account.owned }
  func sync() {}
  func finish(_ transaction: StoreTransaction) { open.removeAll { $0.id == transaction.id } }

  private func pay(_ productId: String, _ quantity: Int, _ token: String) async throws
    -> StoreTransaction
  {
    let bought = try await way.buy(
      productId, token: token, quantity: quantity > 1 ? quantity : nil)
    guard let id = bought.transactionId, let signed = bought.signedTransaction else {
      throw NotInTime(description: "the simulator sold nothing")
    }
    let transaction = StoreTransaction(
      id: id, productId: productId, signed: signed, appAccountToken: token)
    open.append(transaction)
    await account.add(transaction)
    return transaction
  }
}

/// The library's requests over the tests' own client.
struct WayTransport: Transport {
  struct Cut: Error {}

  let way: Way
  /// Whether proofs never arrive, as when the app is killed.
  let losesProofs: Bool

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    if losesProofs, request.url.hasSuffix("/proofs") { throw Cut() }
    let answer = try await way.http.send(
      HTTPRequest(
        method: request.method, url: request.url,
        headers: request.headers.map { ($0.key, $0.value) }, body: request.body.map { [UInt8]($0) },
        timeout: .milliseconds(Int64(request.timeout * 1000))))
    return TransportResponse(
      status: answer.status,
      headers: Dictionary(answer.headers, uniquingKeysWith: { first, _ in first }),
      body: Data(answer.body))
  }
}
