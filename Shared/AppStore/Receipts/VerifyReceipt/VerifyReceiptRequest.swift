internal import Cryptography
internal import FoundationEssentials

/// An app's shared secret for `verifyReceipt`; it never describes itself.
public struct SharedSecret: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  let text: String

  /// Wraps a secret; space around it is cut off, and nothing but space is none.
  public init?(_ text: String) {
    let characters = text.utf8.filter { $0 > 0x20 }
    guard !characters.isEmpty else { return nil }
    self.text = String(decoding: characters, as: UTF8.self)
  }

  /// Says only what it is.
  public var description: String { "SharedSecret" }
  /// Shows nothing of the secret.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A request to `verifyReceipt`.
public struct VerifyReceiptRequest: Sendable, Equatable {
  /// The receipt in standard base64.
  public let receiptData: String
  /// The app's shared secret; needed where the receipt holds subscriptions.
  public let password: SharedSecret?
  /// Whether only the newest renewal of each subscription is answered.
  public let excludesOldTransactions: Bool

  /// A request for a receipt's bytes.
  public init(receipt: [UInt8], password: SharedSecret?, excludesOldTransactions: Bool = false) {
    receiptData = Base64.encode(receipt)
    self.password = password
    self.excludesOldTransactions = excludesOldTransactions
  }

  /// A request for a receipt as a client sent it, mended to standard base64.
  ///
  /// An app receipt or a legacy transaction receipt; throws for another kind of text.
  public init(
    text: String, password: SharedSecret?, excludesOldTransactions: Bool = false,
    sizeLimit: Int = ReceiptVerifier.defaultSizeLimit
  ) throws(ReceiptRejection) {
    let plain = Array(text.utf8)
    let receipt: [UInt8]
    if plain.count <= sizeLimit, LegacyTransactionReceipt.isOne(plain) {
      receipt = plain
    } else {
      receipt = try ReceiptText.read(text, sizeLimit: sizeLimit) {
        (bytes) throws(ReceiptRejection) in
        if !LegacyTransactionReceipt.isOne(bytes) { _ = try ReceiptText.unprovedContent(bytes) }
        return bytes
      }
    }
    self.init(
      receipt: receipt, password: password, excludesOldTransactions: excludesOldTransactions)
  }

  /// The request's JSON, which holds the secret; throws what the encoder throws.
  public func json() throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try [UInt8](
      encoder.encode(
        Wire(
          receiptData: receiptData, password: password?.text,
          excludesOldTransactions: excludesOldTransactions)))
  }

  private struct Wire: Encodable {
    let receiptData: String
    let password: String?
    let excludesOldTransactions: Bool

    enum CodingKeys: String, CodingKey {
      case receiptData = "receipt-data"
      case password
      case excludesOldTransactions = "exclude-old-transactions"
    }
  }
}
