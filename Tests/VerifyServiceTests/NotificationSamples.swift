import AppStore
import Events
import TestSupport
import Testing

@testable import verify_service

/// Notifications as Apple signs them, about one subscription; read as the service reads them.
struct NotificationSamples {
  static let start = AppStoreChains.now - 100 * AppStoreChains.day
  static let day = AppStoreChains.day

  let chain: SigningChain
  let verifier: SignedDataVerifier

  init() throws {
    chain = try AppStoreChains.chain()
    verifier = try SignedDataVerifier(
      roots: [chain.root],
      apps: [AppIdentity(bundleId: "com.example.app", environments: [.sandbox])]
    ) { AppStoreChains.now }
  }

  /// The first period, as it was bought.
  static func transaction(_ fill: (inout TransactionPayload) -> Void = { _ in })
    -> TransactionPayload
  {
    var payload = TransactionPayload()
    payload.transactionId = "1000"
    payload.originalTransactionId = "1000"
    payload.bundleId = "com.example.app"
    payload.productId = "pro.monthly"
    payload.subscriptionGroupIdentifier = "g"
    payload.type = .autoRenewable
    payload.purchaseDate = start
    payload.expiresDate = start + 30 * day
    payload.quantity = 1
    payload.transactionReason = .purchase
    payload.appAccountToken = "t"
    payload.environment = .sandbox
    fill(&payload)
    return payload
  }

  static func renewal(_ fill: (inout RenewalInfoPayload) -> Void = { _ in }) -> RenewalInfoPayload {
    var payload = RenewalInfoPayload()
    payload.originalTransactionId = "1000"
    payload.productId = "pro.monthly"
    payload.autoRenewProductId = "pro.monthly"
    payload.autoRenewStatus = .on
    payload.environment = .sandbox
    fill(&payload)
    return payload
  }

  /// A notification with a transaction, and for subscriptions renewal info and status.
  func notification(
    _ type: String, _ subtype: String? = nil, at date: Int64,
    _ transaction: TransactionPayload? = nil, _ renewal: RenewalInfoPayload? = nil,
    status: Int32? = nil, change: (inout NotificationPayload) -> Void = { _ in }
  ) throws -> String {
    var data = NotificationData()
    data.bundleId = "com.example.app"
    data.environment = .sandbox
    data.status = status.map { SubscriptionStatus(rawValue: $0) }
    if var transaction {
      transaction.signedDate = date
      data.signedTransactionInfo = try chain.signer.sign(transaction)
    }
    if var renewal {
      renewal.signedDate = date
      data.signedRenewalInfo = try chain.signer.sign(renewal)
    }
    var payload = NotificationPayload()
    payload.notificationType = NotificationType(rawValue: type)
    payload.subtype = subtype.map { NotificationSubtype(rawValue: $0) }
    payload.notificationUUID = "\(type)-\(subtype ?? "")-\(date)"
    payload.version = "2.0"
    payload.signedDate = date
    payload.data = data
    change(&payload)
    return try chain.signer.sign(payload)
  }

  /// What the ledger reads of a notification; nil when it concerns no lineage.
  func read(_ signed: String) throws -> FactContents? {
    let fact = FactWriter.fact(
      of: try verifier.verifyNotification(signed), signed, receivedAt: AppStoreChains.now)
    return try FactContents.read(fact)
  }
}
