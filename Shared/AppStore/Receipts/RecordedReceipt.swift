import Cryptography

/// What a receipt said about one lineage, as it stands on `iap.appstore`: not signed singly.
public struct RecordedReceipt: Payload, Equatable {
  /// A PKCS#7 receipt whose signature stood.
  public static let receipt = "receipt"
  /// An answer of `verifyReceipt`, which bears no signature.
  public static let verifyReceipt = "verify-receipt"

  /// How it was proved: one of the two.
  public var evidence: String
  /// The lineage's transactions, in the words of signed ones; the receipt's date stands for the date
  /// of signing.
  public var transactions: [TransactionPayload]
  /// What is to come, where Apple's answer says so.
  public var renewal: RenewalInfoPayload?
  /// SHA-256 of Xcode's certificate, for a receipt that Xcode signed.
  public var xcodeCertificate: String?

  /// What a receipt said.
  public init(
    evidence: String, transactions: [TransactionPayload], renewal: RenewalInfoPayload? = nil,
    xcodeCertificate: String? = nil
  ) {
    self.evidence = evidence
    self.transactions = transactions
    self.renewal = renewal
    self.xcodeCertificate = xcodeCertificate
  }

  /// Reads what was written; throws for a field that is missing or of another type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    guard let evidence = try fields.string("evidence"),
      let transactions: [TransactionPayload] = try fields.objects("transactions")
    else { throw PayloadFault(path: "", detail: "evidence or transactions are missing") }
    self.evidence = evidence
    self.transactions = transactions
    renewal = try fields.object("renewal")
    xcodeCertificate = try fields.string("xcodeCertificate")
  }
}
