/// An answer of `verifyReceipt`; HTTP says 200 whatever the status.
///
/// Nothing in it is signed: it is worth what the connection to Apple is worth.
public struct VerifyReceiptResponse: Payload, Equatable {
  /// What became of the request.
  public var status: VerifyReceiptStatus
  /// `Sandbox` or `Production`.
  public var environment: AppEnvironment?
  /// Apple's word on asking again, with internal faults.
  public var isRetryable: Bool?
  /// The receipt that was sent.
  public var receipt: VerifyReceiptContents?
  /// The newest receipt in base64, with auto-renewables.
  public var latestReceipt: String?
  /// All transactions but finished consumables, with auto-renewables.
  public var latestReceiptInfo: [VerifyReceiptTransaction] = []
  /// What is to come of each subscription, with auto-renewables.
  public var pendingRenewalInfo: [VerifyReceiptRenewal] = []

  /// An answer of this status, to be filled in.
  public init(status: VerifyReceiptStatus) { self.status = status }

  /// Reads the fields that are present; throws without a status, and for a field that cannot be
  /// understood.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    guard let status: VerifyReceiptStatus = try fields.looseValue("status") else {
      throw PayloadFault(path: "status", detail: "expected a number")
    }
    self.status = status
    environment = try fields.looseValue("environment")
    isRetryable = try fields.looseFlag(
      fields.has("is_retryable") ? "is_retryable" : "is-retryable")
    receipt = try fields.object("receipt")
    latestReceipt = try fields.looseText("latest_receipt")
    latestReceiptInfo = try fields.looseObjects("latest_receipt_info")
    pendingRenewalInfo = try fields.looseObjects("pending_renewal_info")
  }

  /// What to do after this answer.
  public func outcome(from server: VerifyReceiptServer) -> VerifyReceiptOutcome {
    status.outcome(isRetryable: isRetryable, from: server)
  }

  /// Writes the fields as Apple does.
  public func encode(to encoder: any Encoder) throws {
    var writer = VerifyReceiptWriter(encoder)
    try writer.number("status", Int64(status.rawValue))
    try writer.text("environment", environment?.rawValue)
    try writer.number("is_retryable", isRetryable.map { $0 ? 1 : 0 })
    if let receipt { try writer.values("receipt", receipt) }
    try writer.text("latest_receipt", latestReceipt)
    if !latestReceiptInfo.isEmpty { try writer.values("latest_receipt_info", latestReceiptInfo) }
    if !pendingRenewalInfo.isEmpty { try writer.values("pending_renewal_info", pendingRenewalInfo) }
  }
}
