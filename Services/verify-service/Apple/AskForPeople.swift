import AppStore
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// What people ask Apple through this service; what Apple answers is recorded as a refresh.
struct AskForPeople: Sendable {
  /// The app and environment of a request.
  struct Place: Decodable, Sendable {
    var bundleId: String
    /// Nil: Production is asked first, then the sandbox.
    var environment: String?
  }

  /// A transaction as it stands at Apple.
  struct Refreshed: Encodable, Sendable {
    let lineage: String
    let transaction: LineageTransaction
    /// What comes at the end of the subscription's period.
    var renewal: LineageRenewal?
    /// Apple's status of the subscription.
    var status: Int64?
    /// Facts that were news and are recorded now.
    var recorded: Int
  }

  let apple: AppleAPI
  let facts: AppleFacts
  let store: Store

  func client(_ bundleId: String, _ environment: String) throws -> AppStoreServerAPI {
    let lane = AppleLane(bundleId: bundleId, environment: environment)
    guard let client = apple.client(lane) else { throw NoAPIKey(lane: lane) }
    return client
  }

  /// Fetches a transaction and the status of its subscription anew.
  func refresh(_ transactionId: String, _ place: Place) async throws -> Refreshed {
    let signed: String
    let environment: String
    if let named = place.environment {
      environment = named
      signed = try await client(place.bundleId, named)
        .answer(to: .transactionInfo(transactionId)).signedTransactionInfo
    } else {
      guard let lookup = apple.lookup(place.bundleId) else {
        throw NoAPIKey(lane: AppleLane(bundleId: place.bundleId, environment: "any environment"))
      }
      let found = try await lookup.find(transactionId)
      environment = found.environment.rawValue
      signed = found.answer.signedTransactionInfo
    }
    let lane = AppleLane(bundleId: place.bundleId, environment: environment)
    let fact = try facts.transaction(
      signed, source: .refresh, lane: lane, at: store.clock.now())
    guard let transaction = fact.transaction, let name = fact.fact.lineage else {
      throw ForeignAnswer(lane: lane, detail: "the transaction cannot be read")
    }
    var found = [fact]
    var refreshed = Refreshed(lineage: name, transaction: transaction, recorded: 0)
    if transaction.type == "Auto-Renewable Subscription" {
      let statuses = try AppleStatuses(
        try await client(lane.bundleId, lane.environment).answer(
          to: .subscriptionStatuses(transactionId)),
        source: .refresh, lane: lane, facts, at: store.clock.now())
      found += statuses.facts
      refreshed.renewal =
        statuses.facts.first { $0.fact.lineage == name && $0.renewal != nil }?
        .renewal
      refreshed.status =
        statuses.entries.first { name.hasSuffix("/\($0.originalTransactionId)") }?.status
    }
    let all = found
    refreshed.recorded = try await store.change { change in try change.publishNews(all) }
    return refreshed
  }

  /// The transactions of an Apple order id, as on a customer's invoice.
  struct Order: Encodable, Sendable {
    struct Entry: Encodable, Sendable {
      let lineage: String
      let transaction: LineageTransaction
      /// Whose lineage it is; nil if it is not known here.
      let customer: String?
    }

    let orderId: String
    let isValid: Bool
    let transactions: [Entry]
  }

  func order(_ orderId: String, _ bundleId: String) async throws -> Order {
    let environment = AppEnvironment.production.rawValue
    let answer = try await client(bundleId, environment).answer(to: .orderLookup(orderId))
    let lane = AppleLane(bundleId: bundleId, environment: environment)
    let found = try answer.signedTransactions.map {
      try facts.transaction($0, source: .refresh, lane: lane, at: store.clock.now())
    }
    let entries = try await store.readers.read { reader in
      try found.compactMap { fact -> Order.Entry? in
        guard let name = fact.fact.lineage, let transaction = fact.transaction else { return nil }
        let owner = try reader.first("SELECT owner FROM lineages WHERE lineage = ?", name) {
          $0.text(0)
        }
        return Order.Entry(lineage: name, transaction: transaction, customer: owner)
      }
    }
    return Order(
      orderId: orderId, isValid: answer.status == .valid, transactions: entries)
  }
}
