import AppStore
import Catalog
import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// Signs offers of Apple's subscriptions for customers who may have them.
struct SignOffer: Sendable {
  /// What is asked for a promotional offer.
  struct PromotionalInput: Decodable, Sendable {
    let customer: String
    let productId: String
    let offerId: String
    let bundleId: String?
    let environment: String?
    /// The `appAccountToken` of the purchase, or the `applicationUsername`; the same as StoreKit gets.
    let account: String?
  }

  /// What is asked for the introductory offer.
  struct IntroductoryInput: Decodable, Sendable {
    let customer: String
    let productId: String
    let bundleId: String?
    let environment: String?
    /// Any transaction id of the customer, or `appTransactionId`; needed where none is known.
    let transactionId: String?
  }

  /// Both forms of a promotional offer's signature; each serves one purchase.
  struct PromotionalAnswer: Encodable, Sendable {
    let productId: String
    let offerId: String
    /// For `SKPaymentDiscount` and `PurchaseOption.promotionalOffer(offerID:keyID:nonce:signature:timestamp:)`.
    let keyId: String
    let nonce: String
    let timestamp: Int64
    let signature: String
    /// For `PurchaseOption.promotionalOffer(_:compactJWS:)`.
    let jws: String
  }

  /// Whether the introductory offer may be had, signed.
  struct IntroductoryAnswer: Encodable, Sendable {
    let productId: String
    let isEligible: Bool
    let jws: String
  }

  let store: Store
  let shop: Shop
  /// The keys by bundle id.
  let keys: [String: APIKey]
  private let signed: Counter

  init(store: Store, shop: Shop, keys: [String: APIKey], metrics: Metrics) {
    self.store = store
    self.shop = shop
    self.keys = keys
    signed = metrics.counter("offers_signed_total", "Offers that were signed for a customer.")
  }

  /// - Throws: `Problem` for an offer that is not there, may not be had, or cannot be signed.
  func promotional(_ input: PromotionalInput) async throws -> PromotionalAnswer {
    let (app, product, subscription) = try subscription(input.productId, input.bundleId)
    if let account = input.account, !Self.isAccount(account) {
      throw Problem.invalidField(
        "account",
        "Give the appAccountToken or applicationUsername of the purchase: at most "
          + "\(Self.longestAccount) bytes without control characters.")
    }
    guard subscription.promotionalOffers.contains(where: { $0.identifier == input.offerId }) else {
      throw Problem(
        status: 422, type: "unknown-offer", title: "Unknown offer",
        detail: "The catalog has no promotional offer '\(input.offerId.prefix(100))' for "
          + "'\(product.id)'.")
    }
    let key = try key(of: app)
    let environment = try environment(input.environment, of: app)
    let seen = try await seen(input.customer, app, environment)
    let now = store.clock.now()
    let eligibility = OfferEligibility(group: subscription.groupID, seen: seen, now: now)
    guard eligibility.promotional else {
      throw Problem(
        status: 403, type: "offer-not-allowed", title: "The customer may not have this offer",
        detail: "Promotional offers are for customers who have or had a subscription of the group; "
          + "none of this customer is known in \(environment).")
    }
    let nonce = UUIDs.version4()
    do throws(SignatureFault) {
      let old = try PromotionalOfferSignature(
        bundleId: app.bundleId, productId: product.id, offerId: input.offerId,
        account: input.account, nonce: nonce, timestamp: now, key: key)
      let jws = try StoreKitJWS.promotionalOffer(
        productId: product.id, offerId: input.offerId, transactionId: seen.first?.transactionId,
        bundleId: app.bundleId, nonce: UUIDs.version4(), now: now, key: key)
      signed.add()
      return PromotionalAnswer(
        productId: product.id, offerId: input.offerId, keyId: old.keyId, nonce: old.nonce,
        timestamp: old.timestamp, signature: old.signature, jws: jws)
    } catch {
      throw try Self.problem(error)
    }
  }

  /// - Throws: `Problem` as `promotional`, and 422 `missing-transaction`.
  func introductory(_ input: IntroductoryInput) async throws -> IntroductoryAnswer {
    let (app, product, subscription) = try subscription(input.productId, input.bundleId)
    if let id = input.transactionId, !Self.isTransaction(id) {
      throw Problem.invalidField(
        "transactionId",
        "Give a transaction id or appTransactionId of the customer, as Apple "
          + "writes it: decimal digits, at most \(Self.longestTransaction).")
    }
    guard !subscription.introductoryOffers.isEmpty else {
      throw Problem(
        status: 422, type: "unknown-offer", title: "Unknown offer",
        detail: "The catalog has no introductory offer for '\(product.id)'.")
    }
    let key = try key(of: app)
    let environment = try environment(input.environment, of: app)
    let seen = try await seen(input.customer, app, environment)
    guard let id = input.transactionId ?? seen.first?.transactionId else {
      throw Problem(
        status: 422, type: "missing-transaction", title: "A transaction id is needed",
        detail: "Apple signs this for a transaction of the customer, and none is known: give "
          + "transactionId, which may be the appTransactionId.")
    }
    let now = store.clock.now()
    let isEligible =
      OfferEligibility(group: subscription.groupID, seen: seen, now: now).introductory
    do throws(SignatureFault) {
      let jws = try StoreKitJWS.introductoryOfferEligibility(
        productId: product.id, isAllowed: isEligible, transactionId: id, bundleId: app.bundleId,
        nonce: UUIDs.version4(), now: now, key: key)
      signed.add()
      return IntroductoryAnswer(productId: product.id, isEligible: isEligible, jws: jws)
    } catch {
      throw try Self.problem(error)
    }
  }

  /// An `applicationUsername` is a UUID or a hash; nothing longer is one.
  private static let longestAccount = 128
  private static let longestTransaction = 40

  private static func isAccount(_ text: String) -> Bool {
    text.utf8.count <= longestAccount
      && text.unicodeScalars.allSatisfy {
        ![.control, .format, .lineSeparator, .paragraphSeparator, .surrogate]
          .contains($0.properties.generalCategory)
      }
  }

  private static func isTransaction(_ text: String) -> Bool {
    (1...longestTransaction).contains(text.utf8.count)
      && text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// What a customer may have in each group of the catalog.
  func eligibility(_ customer: String, bundleId: String?, environment: String?) async throws
    -> [OfferEligibility]
  {
    let app = try shop.app(bundleId)
    let seen = try await seen(customer, app, try self.environment(environment, of: app))
    var groups: [String] = []
    for product in shop.catalogs[app.bundleId]?.value.orderedProducts ?? [] {
      guard let group = product.subscription?.groupID, !groups.contains(group) else { continue }
      groups.append(group)
    }
    let now = store.clock.now()
    return groups.map { OfferEligibility(group: $0, seen: seen, now: now) }
  }

  private func seen(_ customer: String, _ app: App, _ environment: String) async throws
    -> [SubscriptionHistory.Seen]
  {
    try Problem.check(customer: customer)
    return try await store.readers.read { reader in
      try SubscriptionHistory.read(
        reader, customer: CustomerStore.present(reader, customer), bundleId: app.bundleId,
        environment: environment)
    }
  }

  private func subscription(_ id: String, _ bundleId: String?) throws(Problem) -> (
    App, Product, Subscription
  ) {
    let app = try shop.app(bundleId)
    let product = try shop.product(id, of: app)
    guard let subscription = product.subscription else {
      throw Problem(
        status: 422, type: "not-a-subscription", title: "Not a subscription",
        detail: "'\(product.id)' is no auto-renewable subscription; only those have offers.")
    }
    return (app, product, subscription)
  }

  private func key(of app: App) throws(Problem) -> APIKey {
    guard let key = keys[app.bundleId] else {
      throw Problem(
        status: 422, type: "no-offer-key", title: "No key for offers",
        detail: "purser.json names no offerKey for '\(app.bundleId)'.")
    }
    return key
  }

  /// The environment that is asked about; the one of real purchases where none is named.
  private func environment(_ name: String?, of app: App) throws(Problem) -> String {
    guard let name else {
      return ["Production", "Sandbox", "Xcode"].first { app.environments[$0] != nil } ?? "Sandbox"
    }
    guard app.environments[name] != nil else {
      throw Problem(
        status: 422, type: "unknown-environment", title: "Unknown environment",
        detail:
          "'\(name.prefix(40))' is not served for '\(app.bundleId)'; purser.json names what is.")
    }
    return name
  }

  /// What cannot be signed is the caller's fault; a key that does not sign is ours.
  private static func problem(_ fault: SignatureFault) throws -> Problem {
    guard case .badField(let field, let detail) = fault else { throw fault }
    return Problem(
      status: 422, type: "invalid-offer-field", title: "Cannot be signed",
      detail: "\(field) \(detail).", members: ["field": .string(field)])
  }
}
