import AppStore
import Catalog
import Cryptography
import HTTPServer

/// Endpoints about what a customer has: transactions, histories, subscriptions, refunds, orders.
struct PurchaseAPI: Sendable {
  let api: StoreAPI

  private var simulator: Simulator { api.simulator }

  func add(to router: inout Router) {
    api.on(.transactionInfo, .get, "/inApps/v1/transactions/{id}", &router) { request in
      let id = request.parameter("id")
      let payload = try simulator.read { ledger in ledger.payload(of: try ledger.apiCharge(id)) }
      return .json(["signedTransactionInfo": try api.sign(payload)])
    }
    api.on(
      .appTransactionInfo, .get, "/inApps/v1/transactions/appTransactions/{id}", &router,
      appTransaction)
    api.on(.transactionHistory, .get, "/inApps/v2/history/{id}", &router) { request in
      try history(request) { _ in true }
    }
    api.on(.transactionHistoryV1, .get, "/inApps/v1/history/{id}", &router) { request in
      try history(request) { payload in payload.type != .consumable }
    }
    api.on(.subscriptionStatuses, .get, "/inApps/v1/subscriptions/{id}", &router, statuses)
    api.on(.refundHistory, .get, "/inApps/v2/refund/lookup/{id}", &router, refunds)
    api.on(.refundHistoryV1, .get, "/inApps/v1/refund/lookup/{id}", &router, refundsV1)
    api.on(.orderLookup, .get, "/inApps/v1/lookup/{orderId}", &router, order)
  }

  private struct History: Encodable {
    let revision: String
    let hasMore: Bool
    let bundleId: String
    let appAppleId: Int64?
    let environment: AppEnvironment
    let signedTransactions: [String]
  }

  private func history(
    _ request: Request, _ isListed: @Sendable (TransactionPayload) -> Bool
  ) throws -> Response {
    let id = request.parameter("id")
    let filter = try HistoryFilter(request)
    let page = try simulator.read { ledger in
      let all = ledger.history(of: try ledger.apiAccount(id))
      // Version 1 leaves out consumables once they are finished.
      let listed = all.filter { !$0.isFinished || isListed(ledger.payload(of: $0)) }
      let page = filter.page(of: listed, in: ledger)
      return (payloads: page.charges.map { ledger.payload(of: $0) }, page.1, page.hasMore)
    }
    return .json(
      History(
        revision: page.1, hasMore: page.2, bundleId: simulator.signer.bundleId,
        appAppleId: simulator.signer.appAppleId, environment: api.environment,
        signedTransactions: try page.payloads.map { try api.sign($0) }))
  }

  @Sendable private func appTransaction(_ request: Request) async throws -> Response {
    let id = request.parameter("id")
    let (number, first) = try simulator.read { ledger in
      let account = try ledger.apiAccount(id)
      let first = ledger.accounts[account]?.charges.first.flatMap { ledger.charges[$0] }
      return (ledger.appTransactionId(account), first?.purchaseDate)
    }
    var payload = AppTransactionPayload()
    payload.receiptType = api.environment
    payload.appAppleId = simulator.signer.appAppleId
    payload.bundleId = simulator.signer.bundleId
    payload.applicationVersion = "1"
    payload.originalApplicationVersion = "1.0"
    payload.originalPurchaseDate = first
    payload.receiptCreationDate = simulator.clock.now()
    payload.appTransactionId = number
    payload.originalPlatform = .iOS
    return .json([
      "signedAppTransactionInfo": try simulator.signer.chain.signer.sign(payload)
    ])
  }

  private struct Statuses: Encodable {
    struct Group: Encodable {
      let subscriptionGroupIdentifier: String
      let lastTransactions: [Last]
    }

    struct Last: Encodable {
      let status: SubscriptionStatus
      let originalTransactionId: String
      let signedTransactionInfo: String
      let signedRenewalInfo: String
    }

    let environment: AppEnvironment
    let bundleId: String
    let appAppleId: Int64?
    let data: [Group]
  }

  @Sendable private func statuses(_ request: Request) async throws -> Response {
    let id = request.parameter("id")
    var wanted: [Int32] = []
    for text in request.query.all("status") {
      guard let status = Int32(text), (1...5).contains(status) else {
        throw APIRefusal(.invalidStatus)
      }
      wanted.append(status)
    }
    let found = try simulator.read { ledger in
      ledger.subscriptions(of: try ledger.apiAccount(id)).compactMap { lineage in
        ledger.charges[lineage.current].map {
          (lineage, ledger.payload(of: $0), ledger.renewalInfo(of: lineage))
        }
      }
    }
    var groups: [Statuses.Group] = []
    for (lineage, payload, info) in found
    where wanted.isEmpty || wanted.contains(lineage.status.rawValue) {
      groups.append(
        Statuses.Group(
          subscriptionGroupIdentifier: lineage.groupID,
          lastTransactions: [
            Statuses.Last(
              status: lineage.status, originalTransactionId: String(lineage.originalId),
              signedTransactionInfo: try api.sign(payload), signedRenewalInfo: try api.sign(info))
          ]))
    }
    return .json(
      Statuses(
        environment: api.environment, bundleId: simulator.signer.bundleId,
        appAppleId: simulator.signer.appAppleId, data: groups))
  }

  private struct Refunds: Encodable {
    let signedTransactions: [String]
    let revision: String
    let hasMore: Bool
  }

  @Sendable private func refunds(_ request: Request) async throws -> Response {
    let id = request.parameter("id")
    let after = try HistoryFilter.change(request.query["revision"], "refunds") ?? 0
    let (page, last, hasMore) = try simulator.read { ledger in
      let refunded = ledger.history(of: try ledger.apiAccount(id))
        .filter { $0.revocation != nil && $0.change > after }
      let page = refunded.prefix(StoreAPI.pageSize)
      return (
        page.map { ledger.payload(of: $0) }, page.last?.change ?? after,
        refunded.count > page.count
      )
    }
    return .json(
      Refunds(
        signedTransactions: try page.map { try api.sign($0) },
        revision: HistoryFilter.revision(last, "refunds"), hasMore: hasMore))
  }

  @Sendable private func refundsV1(_ request: Request) async throws -> Response {
    let id = request.parameter("id")
    let refunded = try simulator.read { ledger in
      ledger.history(of: try ledger.apiAccount(id)).filter { $0.revocation != nil }
        .prefix(50).map { ledger.payload(of: $0) }
    }
    return .json(["signedTransactions": try refunded.map { try api.sign($0) }])
  }

  private struct Order: Encodable {
    let status: Int
    var signedTransactions: [String]?
  }

  @Sendable private func order(_ request: Request) async throws -> Response {
    let id = request.parameter("orderId")
    guard id.utf8.allSatisfy({ (48...57).contains($0) || (65...90).contains($0) }) else {
      throw APIRefusal(.generalBadRequest)
    }
    let found = try simulator.read { ledger in
      ledger.charge(ofOrder: id).map { ledger.payload(of: $0) }
    }
    guard let found else { return .json(Order(status: 1)) }
    return .json(Order(status: 0, signedTransactions: [try api.sign(found)]))
  }
}
