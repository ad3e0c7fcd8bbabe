import AppStore
import Cryptography

/// Signs as the App Store does, with a chain made at start.
struct StoreSigner: Sendable {
  let chain: SigningChain
  let bundleId: String
  let environment: AppEnvironment
  /// Sent in Production only, as Apple does.
  let appAppleId: Int64?
  private let signer: JWSSigner

  init(chain: SigningChain, bundleId: String, environment: AppEnvironment, appAppleId: Int64?) {
    self.chain = chain
    self.bundleId = bundleId
    self.environment = environment
    self.appAppleId = environment == .production ? appAppleId : nil
    signer = chain.signer
  }

  func sign(_ transaction: TransactionPayload, at now: Int64) throws -> String {
    var payload = transaction
    payload.signedDate = now
    return try signer.sign(payload)
  }

  func sign(_ renewalInfo: RenewalInfoPayload, at now: Int64) throws -> String {
    var payload = renewalInfo
    payload.signedDate = now
    return try signer.sign(payload)
  }

  /// The signed notification about a happening, with its inner objects signed on their own.
  func sign(_ happening: Happening, uuid: String) throws -> String {
    var payload = NotificationPayload()
    payload.notificationType = happening.type
    payload.subtype = happening.subtype
    payload.notificationUUID = uuid
    payload.version = "2.0"
    payload.signedDate = happening.at
    if var summary = happening.summary {
      summary.environment = environment
      summary.appAppleId = appAppleId
      summary.bundleId = bundleId
      payload.summary = summary
      return try signer.sign(payload)
    }
    var data = NotificationData()
    data.appAppleId = appAppleId
    data.bundleId = bundleId
    data.bundleVersion = happening.type == .test ? nil : "1"
    data.environment = environment
    data.status = happening.status
    data.consumptionRequestReason = happening.consumptionReason
    data.signedTransactionInfo = try happening.transaction.map { try sign($0, at: happening.at) }
    data.signedRenewalInfo = try happening.renewalInfo.map { try sign($0, at: happening.at) }
    payload.data = data
    return try signer.sign(payload)
  }

  /// The body of Apple's POST.
  static func body(_ signedPayload: String) -> [UInt8] {
    // A compact JWS has no character that JSON would escape.
    Array("{\"signedPayload\":\"\(signedPayload)\"}".utf8)
  }
}
