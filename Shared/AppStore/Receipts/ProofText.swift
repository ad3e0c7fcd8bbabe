import Cryptography
import JSON

/// Tells what a text is that somebody handed over as proof; proves nothing.
public enum ProofText {
  /// What a text is.
  public enum Kind: Sendable, Equatable {
    /// A JWS of a transaction (`jwsRepresentation`).
    case signedTransaction
    /// A JWS of renewal info.
    case signedRenewalInfo
    /// A JWS of an app transaction.
    case signedAppTransaction
    /// A JWS of a server notification.
    case signedNotification
    /// An app receipt, PKCS#7 in base64.
    case appReceipt
    /// A receipt of one transaction of iOS 6 (`SKPaymentTransaction.transactionReceipt`).
    case legacyTransactionReceipt
    /// Decimal digits.
    case transactionId
    /// Something else; the reason is one sentence for a person.
    case unknown(reason: String)

    /// The kind in words, with its article.
    public var name: String {
      switch self {
      case .signedTransaction: "a signed transaction"
      case .signedRenewalInfo: "signed renewal info"
      case .signedAppTransaction: "a signed app transaction"
      case .signedNotification: "a signed server notification"
      case .appReceipt: "an app receipt"
      case .legacyTransactionReceipt: "a legacy transaction receipt"
      case .transactionId: "a transaction id"
      case .unknown(let reason): reason
      }
    }
  }

  /// Longest transaction id that is recognized, in digits.
  static let longestId = 20

  /// The kind of a text; `sizeLimit` is the most bytes that are looked at.
  public static func recognize(
    _ text: String, sizeLimit: Int = ReceiptVerifier.defaultSizeLimit
  ) -> Kind {
    guard text.utf8.count <= sizeLimit else { return .unknown(reason: "text of too many bytes") }
    let characters = ProofEncoding.trimmed(text)
    guard let first = characters.first else { return .unknown(reason: "an empty text") }
    if isTransactionId(characters) { return .transactionId }
    if characters.contains(UInt8(ascii: ".")) { return signedData(characters) }
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      if LegacyTransactionReceipt.isOne(Array(text.utf8)) { return .legacyTransactionReceipt }
      return .unknown(reason: "JSON, which nobody signed")
    }
    let readings = ProofEncoding.candidates(text)
    guard !readings.isEmpty else {
      return .unknown(reason: "text that is neither a JWS nor base64 nor a transaction id")
    }
    return readings.lazy.compactMap { kind(of: $0) }.first
      ?? .unknown(reason: "base64 of something that is no receipt")
  }

  /// Whether the characters are a transaction id.
  static func isTransactionId(_ characters: some Collection<UInt8>) -> Bool {
    (1...longestId).contains(characters.count) && characters.allSatisfy { (48...57).contains($0) }
  }

  private static func kind(of bytes: [UInt8]) -> Kind? {
    if isSignedMessage(bytes) { return .appReceipt }
    if LegacyTransactionReceipt.isOne(bytes) { return .legacyTransactionReceipt }
    let isText = bytes.allSatisfy { (33...126).contains($0) }
    if isText, case let inner = signedData(bytes), inner != notThreeParts {
      return .unknown(reason: "base64 of \(inner.name), which must be sent as it is")
    }
    return nil
  }

  /// Whether a SEQUENCE begins with the identifier of PKCS#7 signed data.
  private static func isSignedMessage(_ bytes: [UInt8]) -> Bool {
    let identifier: [UInt8] = [
      0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02,
    ]
    guard bytes.first == 0x30 else { return false }
    // A length takes one to five bytes.
    return (2...6).contains { bytes.dropFirst($0).starts(with: identifier) }
  }

  private static let notThreeParts = Kind.unknown(
    reason: "text with dots that is not the three parts of a JWS")

  private static func signedData(_ characters: [UInt8]) -> Kind {
    let parts = characters.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let payload = Base64URL.decode(Array(parts[1])) else {
      return notThreeParts
    }
    guard let members = try? JSONMembers(payload) else {
      return .unknown(reason: "a JWS whose payload is not a JSON object")
    }
    func has(_ name: StaticString) -> Bool { members.find(name) != nil }
    if has("notificationType") { return .signedNotification }
    if has("receiptType") { return .signedAppTransaction }
    if has("autoRenewProductId") || has("autoRenewStatus") { return .signedRenewalInfo }
    if has("transactionId") { return .signedTransaction }
    return .unknown(reason: "a JWS of something that is no purchase")
  }
}
