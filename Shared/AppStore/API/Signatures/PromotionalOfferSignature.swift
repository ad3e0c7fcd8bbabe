import Cryptography

/// The original signature of a promotional offer, for `PurchaseOption.promotionalOffer` and
/// `SKPaymentDiscount` (reference §7.1).
///
/// It serves one purchase attempt within 24 hours.
public struct PromotionalOfferSignature: Sendable, Equatable, Encodable {
  /// ECDSA over SHA-256, DER, in standard base64.
  public let signature: String
  /// The UUID that was signed, lower case.
  public let nonce: String
  /// The time that was signed, UNIX milliseconds.
  public let timestamp: Int64
  /// The key that signed.
  public let keyId: String

  /// Signs an offer.
  ///
  /// - Parameters:
  ///   - account: The `appAccountToken` or the `applicationUsername` of the purchase, the same as the
  ///     app gives to StoreKit; nil for none. It is signed in lower case, as Apple's own libraries do.
  ///   - nonce: A UUID, a new one for each signature.
  ///   - timestamp: Now, UNIX milliseconds.
  public init(
    bundleId: String, productId: String, offerId: String, account: String?, nonce: String,
    timestamp: Int64, key: APIKey
  ) throws(SignatureFault) {
    let nonce = try SignedFields.nonce(nonce)
    let text = try Self.text(
      bundleId: bundleId, keyId: key.keyId, productId: productId, offerId: offerId,
      account: account, nonce: nonce, timestamp: timestamp)
    do {
      signature = Base64.encode(try key.signDER(Array(text.utf8)))
    } catch {
      throw .signing(error)
    }
    self.nonce = nonce
    self.timestamp = timestamp
    keyId = key.keyId
  }

  /// What is signed: seven fields joined by an invisible separator.
  static func text(
    bundleId: String, keyId: String, productId: String, offerId: String, account: String?,
    nonce: String, timestamp: Int64
  ) throws(SignatureFault) -> String {
    let account = account ?? ""
    let fields = [
      ("bundleId", try SignedFields.needed(bundleId, "bundleId")), ("keyId", keyId),
      ("productId", try SignedFields.needed(productId, "productId")),
      ("offerId", try SignedFields.needed(offerId, "offerId")),
      ("account", account.lowercased()), ("nonce", nonce),
      ("timestamp", String(timestamp)),
    ]
    for (name, value) in fields where value.unicodeScalars.contains("\u{2063}") {
      throw .badField(name, "must not hold the separator U+2063")
    }
    // Seconds in place of milliseconds are a known mistake; they would lie in January 1970.
    guard timestamp > 100_000_000_000 else {
      throw .badField("timestamp", "must be the time now in UNIX milliseconds")
    }
    return fields.map(\.1).joined(separator: "\u{2063}")
  }
}
