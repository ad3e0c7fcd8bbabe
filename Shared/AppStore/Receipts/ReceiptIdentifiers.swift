import Cryptography

/// A transaction id that nothing vouches for: good for asking Apple, and for nothing else.
public struct UnprovedTransactionId: Sendable, Equatable {
  /// Decimal digits, at most 20.
  public let digits: String
}

/// Transaction ids taken out of receipts without any proof, to ask Apple's API about them.
public enum ReceiptIdentifiers {
  /// The first id of the first in-app purchase that has one; nil for a receipt without purchases.
  ///
  /// Which id of the customer it is does not matter to the endpoints that take any of them.
  public static func unprovedTransactionId(
    inAppReceipt text: String, sizeLimit: Int = ReceiptVerifier.defaultSizeLimit
  ) throws(ReceiptRejection) -> UnprovedTransactionId? {
    try ReceiptText.read(text, sizeLimit: sizeLimit) { (bytes) throws(ReceiptRejection) in
      let content = try ReceiptText.unprovedContent(bytes)
      do {
        let purchases = try ReceiptAttributes(content).all.filter { $0.type == 17 }
        for purchase in purchases {
          // 1703 is the transaction, 1705 its original; either serves, so the first one is taken.
          let attributes = try ReceiptAttributes(purchase.value)
          guard let id = attributes.all.first(where: { $0.type == 1703 || $0.type == 1705 }),
            let digits = attributes.text(id.type), ProofText.isTransactionId(digits.utf8)
          else { continue }
          return UnprovedTransactionId(digits: digits)
        }
        return nil
      } catch {
        throw ReceiptRejection(.malformedReceipt, "not a receipt's attributes: \(error)")
      }
    }
  }

  /// The id in a receipt of one transaction, as iOS 6 gave it.
  public static func unprovedTransactionId(
    inLegacyTransactionReceipt text: String, sizeLimit: Int = ReceiptVerifier.defaultSizeLimit
  ) throws(ReceiptRejection) -> UnprovedTransactionId {
    // Some clients send the property list itself.
    let plain = Array(text.utf8)
    if plain.count <= sizeLimit, LegacyTransactionReceipt.isOne(plain) {
      return UnprovedTransactionId(digits: try LegacyTransactionReceipt.transactionId(in: plain))
    }
    return try ReceiptText.read(text, sizeLimit: sizeLimit, as: .legacyTransactionReceipt) {
      (bytes) throws(ReceiptRejection) in
      UnprovedTransactionId(digits: try LegacyTransactionReceipt.transactionId(in: bytes))
    }
  }
}
