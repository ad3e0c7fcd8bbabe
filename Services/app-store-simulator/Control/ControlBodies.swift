import AppStore
import FoundationEssentials
import HTTPServer

/// `POST /control/purchases`.
struct PurchaseBody: Decodable, Sendable {
  var productId: String
  var appAccountToken: String?
  var quantity: Int?
  var account: String?
  var storefront: String?
  var offer: String?
  var notify: Bool?
  /// `PURCHASED` (default) or `FAMILY_SHARED`.
  var inAppOwnershipType: String?

  var order: PurchaseOrder {
    PurchaseOrder(
      productId: productId, token: appAccountToken, quantity: quantity ?? 1, account: account,
      storefront: storefront, offer: offer,
      isFamilyShared: inAppOwnershipType == OwnershipType.familyShared.rawValue)
  }
}

/// What every other command may carry; the body may be left out.
struct CommandBody: Decodable, Sendable {
  var notify: Bool?
  /// Of a refund.
  var reason: Int32?
  /// Of a refund, thousandths of a percent.
  var percentage: Int32?
  /// Of a request for a refund, such as `UNINTENDED_PURCHASE`.
  var consumptionRequestReason: String?

  init(_ request: Request) throws(Problem) {
    guard !request.body.isEmpty else { return }
    self = try request.json()
  }
}

/// What a command brought about, freshly signed.
struct CommandAnswer: Encodable, Sendable {
  let transactionId: String?
  let originalTransactionId: String?
  /// Names the customer in this app.
  let appTransactionId: String?
  /// As on the customer's invoice; Production only.
  let orderId: String?
  let productId: String?
  let appAccountToken: String?
  let purchaseDate: Int64?
  let expiresDate: Int64?
  let quantity: Int32?
  let price: Int64?
  let currency: String?
  let status: Int32?
  let autoRenewStatus: Int32?
  let notificationType: String?
  let notificationSubtype: String?
  let notificationUUID: String?
  let signedTransaction: String?
  let signedRenewalInfo: String?

  init(_ outcome: Simulator.Outcome, signer: StoreSigner, at now: Int64) throws {
    try self.init(outcome.happening, uuid: outcome.notificationUUID, signer: signer, at: now)
  }

  /// - Parameter uuid: The notification that tells of it; nil if none does.
  init(_ happening: Happening, uuid: String?, signer: StoreSigner, at now: Int64) throws {
    let transaction = happening.transaction
    transactionId = transaction?.transactionId
    originalTransactionId = transaction?.originalTransactionId
    appTransactionId = transaction?.appTransactionId
    orderId =
      transaction?.environment == .production
      ? transaction?.transactionId.flatMap { UInt64($0) }.map { Ledger.orderId(of: $0) } : nil
    productId = transaction?.productId
    appAccountToken = transaction?.appAccountToken
    purchaseDate = transaction?.purchaseDate
    expiresDate = transaction?.expiresDate
    quantity = transaction?.quantity
    price = transaction?.price
    currency = transaction?.currency
    status = happening.status?.rawValue
    autoRenewStatus = happening.renewalInfo?.autoRenewStatus?.rawValue
    notificationType = uuid == nil ? nil : happening.type.rawValue
    notificationSubtype = uuid == nil ? nil : happening.subtype?.rawValue
    notificationUUID = uuid
    // Never before the happening, whatever the machine's clock did meanwhile.
    let date = max(now, happening.at)
    signedTransaction = try transaction.map { try signer.sign($0, at: date) }
    signedRenewalInfo = try happening.renewalInfo.map { try signer.sign($0, at: date) }
  }
}
