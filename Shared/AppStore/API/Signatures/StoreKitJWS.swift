import Cryptography

/// The signatures in JWS form that an app hands to StoreKit (reference §7.2).
///
/// They have no expiry: Apple derives it from the time of signing. Each takes the time now in UNIX
/// milliseconds and a nonce, a new UUID for each signature.
public enum StoreKitJWS {
  /// A promotional offer, second version.
  ///
  /// - Parameter transactionId: Any id of the customer, recommended by Apple; nil for none.
  public static func promotionalOffer(
    productId: String, offerId: String, transactionId: String?, bundleId: String, nonce: String,
    now: Int64, key: APIKey
  ) throws(SignatureFault) -> String {
    var claims = try Claims("promotional-offer", bundleId, nonce, now, key)
    claims.productId = try SignedFields.needed(productId, "productId")
    claims.offerIdentifier = try SignedFields.needed(offerId, "offerId")
    claims.transactionId = try transactionId.map { (id) throws(SignatureFault) in
      try SignedFields.needed(id, "transactionId")
    }
    return try sign(claims, key)
  }

  /// Whether a customer may have the introductory offer, whatever the App Store would say.
  ///
  /// - Parameter transactionId: Any id of the customer, an `appTransactionId` too.
  public static func introductoryOfferEligibility(
    productId: String, isAllowed: Bool, transactionId: String, bundleId: String, nonce: String,
    now: Int64, key: APIKey
  ) throws(SignatureFault) -> String {
    var claims = try Claims("introductory-offer-eligibility", bundleId, nonce, now, key)
    claims.productId = try SignedFields.needed(productId, "productId")
    claims.allowIntroductoryOffer = isAllowed
    claims.transactionId = try SignedFields.needed(transactionId, "transactionId")
    return try sign(claims, key)
  }

  /// An Advanced Commerce request that the app makes.
  public static func advancedCommerce(
    _ request: AdvancedCommerceInAppRequest, bundleId: String, nonce: String, now: Int64,
    key: APIKey
  ) throws(SignatureFault) -> String {
    var claims = try Claims("advanced-commerce-api", bundleId, nonce, now, key)
    claims.request = Base64.encode(request.json)
    return try sign(claims, key)
  }

  private struct Claims: Encodable {
    let iss: String
    let iat: Int64
    let aud: String
    let bid: String
    let nonce: String
    var productId: String?
    var offerIdentifier: String?
    var allowIntroductoryOffer: Bool?
    var transactionId: String?
    var request: String?

    init(
      _ audience: String, _ bundleId: String, _ nonce: String, _ now: Int64, _ key: APIKey
    ) throws(SignatureFault) {
      iss = key.issuerId
      iat = now / 1000
      aud = audience
      bid = try SignedFields.needed(bundleId, "bundleId")
      self.nonce = try SignedFields.nonce(nonce)
    }
  }

  private static func sign(_ claims: Claims, _ key: APIKey) throws(SignatureFault) -> String {
    do {
      return try KeyedJWS.sign(claims, with: key)
    } catch {
      throw .signing(error)
    }
  }
}
