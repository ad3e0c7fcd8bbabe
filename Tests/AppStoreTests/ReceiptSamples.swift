import AppStore
import Cryptography
import TestSupport
import Testing

/// Receipts of Apple and of Xcode, and verifiers that know their apps.
enum ReceiptSamples {
  static let sandboxBundle = "com.revenuecat.sampleapp"
  static let xcodeBundle = "com.example.naturelab.backyardbirds.example"
  /// 2020-07-22T17:39:08Z.
  static let sandboxCreation: Int64 = 1_595_439_548_000

  static func sandboxText() throws -> String {
    try TestData.text("apple/receipts/sandbox-app-receipt.base64.txt")
  }

  static func sandboxBytes() throws -> [UInt8] { try bytes(sandboxText()) }

  static func xcodeText(_ name: String) throws -> String {
    try TestData.text("apple/xcode/xcode-app-receipt-\(name)")
  }

  static func bytes(_ text: String) throws -> [UInt8] {
    try #require(Base64.decode(text.filter { !$0.isWhitespace }))
  }

  static func appleRoot() throws -> Certificate {
    try Certificate(der: TestData.bytes("apple/certs/apple-root/AppleIncRootCertificate.cer"))
  }

  static func appleVerifier(
    bundle: String = sandboxBundle, _ environments: Set<AppEnvironment> = [.sandbox]
  ) throws -> ReceiptVerifier {
    try ReceiptVerifier(
      roots: [appleRoot()],
      apps: [AppIdentity(bundleId: bundle, appAppleId: 1, environments: environments)])
  }

  /// A verifier for receipts that the test signs itself.
  static func ownVerifier(
    _ chain: SigningChain? = nil, _ environments: Set<AppEnvironment> = [.sandbox]
  ) throws -> ReceiptVerifier {
    try ReceiptVerifier(
      roots: [(chain ?? AppStoreChains.chain()).root],
      apps: [AppIdentity(bundleId: "com.example", appAppleId: 1, environments: environments)])
  }

  /// A receipt of one monthly subscription, made at the time of tests.
  static func receipt() -> AppReceipt {
    var inApp = InAppReceipt(
      productId: "com.example.monthly", transactionId: "1002", originalTransactionId: "1001",
      purchaseDate: AppStoreChains.now - 1000)
    inApp.expiresDate = AppStoreChains.now + 30 * AppStoreChains.day
    inApp.productType = .autoRenewable
    return AppReceipt(
      environmentName: "ProductionSandbox", bundleId: "com.example",
      creationDate: AppStoreChains.now, inApps: [inApp])
  }

  static func code(_ body: () throws -> Void) -> ReceiptRejection.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? ReceiptRejection)?.code
    }
  }
}
