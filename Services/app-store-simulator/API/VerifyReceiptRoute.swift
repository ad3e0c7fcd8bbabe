import AppStore
import Catalog
import Cryptography
import FoundationEssentials
import HTTPServer

/// `POST /verifyReceipt`, as `buy.itunes.apple.com` and its sandbox still answer it.
struct VerifyReceiptRoute: Sendable {
  private struct Body: Decodable {
    let receipt: String
    var password: String?
    var excludesOld: Bool?

    enum CodingKeys: String, CodingKey {
      case receipt = "receipt-data"
      case password
      case excludesOld = "exclude-old-transactions"
    }
  }

  /// The name by which faults are asked for.
  static let endpoint = "verify-receipt"

  let receipts: Receipts
  let simulator: Simulator
  let faults: FaultPlan
  let secret: String?

  func add(to router: inout Router) {
    router.on(.post, "/verifyReceipt", scope: nil) { request in
      let fault = faults.take(Self.endpoint)
      if let fault, fault.kind == .error {
        // Its errors are statuses in an answer of 200.
        let status = Int32(clamping: fault.errorCode ?? 21_005)
        return .json(VerifyReceiptResponse(status: VerifyReceiptStatus(rawValue: status)))
      }
      if let fault, let answer = try await fault.answer(now: simulator.clock.now()) {
        return answer
      }
      let response = Response.json(try answer(request))
      return try await fault?.spoil(response) ?? response
    }
  }

  private func answer(_ request: Request) throws -> VerifyReceiptResponse {
    let body: Body
    do {
      body = try request.json()
    } catch {
      return VerifyReceiptResponse(status: .malformedData)
    }
    let environment = simulator.signer.environment
    guard let receipt = try receipts.proved(body.receipt) else {
      return VerifyReceiptResponse(status: unproved(body.receipt))
    }
    guard receipt.environment == environment else {
      return VerifyReceiptResponse(
        status: environment == .production ? .sandboxReceipt : .productionReceipt)
    }
    guard secret == nil || body.password == nil || body.password == secret else {
      return VerifyReceiptResponse(status: .wrongSharedSecret)
    }
    var answer = VerifyReceiptResponse(status: .valid)
    answer.environment = environment
    answer.receipt = contents(of: receipt)
    guard let some = receipt.inApps.first?.transactionId else { return answer }
    let (transactions, renewals) = try simulator.read { ledger in
      let account = try ledger.charge(some).account
      let all = ledger.history(of: account).sorted { $0.purchaseDate > $1.purchaseDate }
      let current = Set(ledger.subscriptions(of: account).map(\.current))
      let listed = all.filter {
        !($0.isFinished && ledger.catalog.product($0.productId)?.kind == .consumable)
          && (body.excludesOld != true || $0.expiresDate == nil || current.contains($0.id))
      }
      return (
        listed.map { ledger.legacyTransaction(of: $0) },
        ledger.subscriptions(of: account).map { ledger.legacyRenewal(of: $0) }
      )
    }
    guard !renewals.isEmpty else { return answer }
    // Subscriptions are told only to those who know the app's secret.
    guard secret == nil || body.password == secret else {
      return VerifyReceiptResponse(status: .wrongSharedSecret)
    }
    answer.latestReceipt = body.receipt
    answer.latestReceiptInfo = transactions
    answer.pendingRenewalInfo = renewals
    return answer
  }

  /// What is said of a receipt that this store did not sign: one of the other environment comes
  /// from another simulator with a chain of its own.
  private func unproved(_ text: String) -> VerifyReceiptStatus {
    guard let bytes = Base64.decode(text) else { return .malformedData }
    let isSandbox = Array(bytes).firstRange(of: Array("ProductionSandbox".utf8)) != nil
    let isReceipt = Array(bytes).firstRange(of: Array("Production".utf8)) != nil
    if simulator.signer.environment == .production {
      return isSandbox ? .sandboxReceipt : .notAuthentic
    }
    return isReceipt && !isSandbox ? .productionReceipt : .notAuthentic
  }

  private func contents(of receipt: AppReceipt) -> VerifyReceiptContents {
    var contents = VerifyReceiptContents()
    contents.receiptType = receipt.environmentName
    contents.adamId = receipt.appItemId
    contents.appItemId = receipt.appItemId
    contents.bundleId = receipt.bundleId
    contents.applicationVersion = receipt.applicationVersion
    contents.receiptCreationDate = receipt.creationDate
    contents.requestDate = simulator.clock.now()
    contents.originalPurchaseDate = receipt.originalPurchaseDate
    contents.originalApplicationVersion = receipt.originalApplicationVersion
    contents.inApp = receipt.inApps.map(VerifyReceiptTransaction.init)
    return contents
  }
}

extension Ledger {
  /// A transaction as `latest_receipt_info` tells of it.
  func legacyTransaction(of charge: Charge) -> VerifyReceiptTransaction {
    let inApp = inApp(of: charge)
    var transaction = VerifyReceiptTransaction(inApp)
    transaction.cancellationReason = charge.revocation?.reason
    transaction.promotionalOfferId = inApp.promotionalOfferId
    transaction.inAppOwnershipType = charge.ownership
    transaction.appAccountToken = charge.token
    transaction.isUpgraded = charge.isUpgraded ? true : nil
    transaction.subscriptionGroupIdentifier = payload(of: charge).subscriptionGroupIdentifier
    return transaction
  }

  /// A subscription as `pending_renewal_info` tells of it.
  func legacyRenewal(of lineage: Lineage) -> VerifyReceiptRenewal {
    let info = renewalInfo(of: lineage)
    var renewal = VerifyReceiptRenewal()
    renewal.productId = info.productId
    renewal.originalTransactionId = info.originalTransactionId
    renewal.autoRenewProductId = info.autoRenewProductId
    renewal.autoRenewStatus = info.autoRenewStatus
    renewal.expirationIntent = info.expirationIntent
    renewal.isInBillingRetryPeriod = info.expirationIntent == nil ? nil : false
    return renewal
  }
}

extension VerifyReceiptTransaction {
  /// What a receipt's own record says of a purchase.
  init(_ inApp: InAppReceipt) {
    self.init()
    quantity = inApp.quantity
    productId = inApp.productId
    transactionId = inApp.transactionId
    originalTransactionId = inApp.originalTransactionId
    purchaseDate = inApp.purchaseDate
    originalPurchaseDate = inApp.originalPurchaseDate
    expiresDate = inApp.expiresDate
    cancellationDate = inApp.cancellationDate
    webOrderLineItemId = inApp.webOrderLineItemId
    isTrialPeriod = inApp.isTrial
    isInIntroOfferPeriod = inApp.isInIntroOffer
  }
}
