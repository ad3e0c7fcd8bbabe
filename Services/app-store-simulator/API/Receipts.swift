import AppStore
import Catalog
import Cryptography

/// App receipts of StoreKit 1, signed by the simulator's chain.
struct Receipts: Sendable {
  let simulator: Simulator

  private var signer: StoreSigner { simulator.signer }

  /// The receipt of an account, in base64, and how many purchases it lists.
  ///
  /// Finished consumables are left out, as Apple does.
  func receipt(of account: String) throws -> (String, Int) {
    let now = simulator.clock.now()
    let (inApps, first) = try simulator.read { ledger in
      let charges = ledger.history(of: account).sorted { $0.id < $1.id }
        .filter { !$0.isFinished || ledger.catalog.product($0.productId)?.kind != .consumable }
      return (charges.map { ledger.inApp(of: $0) }, charges.first?.purchaseDate)
    }
    let isProduction = signer.environment == .production
    var receipt = AppReceipt(
      environmentName: isProduction ? "Production" : "ProductionSandbox",
      bundleId: signer.bundleId, creationDate: now, inApps: inApps)
    receipt.appItemId = signer.appAppleId ?? 0
    receipt.applicationVersion = "1"
    receipt.originalApplicationVersion = "1.0"
    receipt.originalPurchaseDate = isProduction ? first : 1_375_340_400_000
    receipt.opaqueValue = randomBytes(16)
    receipt.deviceHash = randomBytes(20)
    return (Base64.encode(try signer.chain.receiptSigner.sign(receipt)), inApps.count)
  }

  /// A receipt that this store signed; nil for any other text.
  func proved(_ text: String) throws -> AppReceipt? {
    let verifier = try ReceiptVerifier(
      roots: [signer.chain.root],
      apps: [
        AppIdentity(
          bundleId: signer.bundleId, appAppleId: signer.appAppleId ?? 1,
          environments: [.production, .sandbox])
      ])
    do {
      return try verifier.verify(text).receipt
    } catch {
      return nil
    }
  }
}

extension Ledger {
  /// What a receipt says about a purchase.
  func inApp(of charge: Charge) -> InAppReceipt {
    var inApp = InAppReceipt(
      productId: charge.productId, transactionId: String(charge.id),
      originalTransactionId: String(charge.originalId), purchaseDate: charge.purchaseDate,
      quantity: Int64(charge.quantity))
    inApp.originalPurchaseDate = charge.originalPurchaseDate
    inApp.expiresDate = charge.expiresDate
    inApp.webOrderLineItemId = charge.webOrderLineItemId.map { String($0) }
    inApp.cancellationDate = charge.revocation?.date
    inApp.isTrial = charge.offer.map { $0.discount == .freeTrial } ?? false
    inApp.isInIntroOffer = charge.offer.map {
      $0.type == .introductory && $0.discount != .freeTrial
    }
    inApp.promotionalOfferId = charge.offer?.type == .promotional ? charge.offer?.identifier : nil
    inApp.productType =
      switch catalog.product(charge.productId)?.kind {
      case .nonConsumable: .nonConsumable
      case .consumable: .consumable
      case .nonRenewing: .nonRenewing
      case .autoRenewable, nil: .autoRenewable
      }
    return inApp
  }
}
