import AppStore

/// One transaction as the simulator keeps it: small, so that a million fit in memory.
///
/// The payload that is signed is made from it each time.
struct Charge: Sendable, Equatable {
  let id: UInt64
  let originalId: UInt64
  let productId: String
  let quantity: Int32
  /// Lower case.
  var token: String?
  let account: String
  let storefront: Storefront
  /// Milliunits, all units together.
  let price: Int64
  let purchaseDate: Int64
  let originalPurchaseDate: Int64
  let isRenewal: Bool
  /// Auto-renewables: the number of the period, and its end.
  let webOrderLineItemId: UInt64?
  var expiresDate: Int64?
  let offer: AppliedOffer?
  var revocation: Revocation?
  var isUpgraded = false
  var ownership = OwnershipType.purchased
  /// Whether the app, or the server for it, has said that it delivered.
  var isFinished = false
  /// Grows with each change of the books: the order in which histories are told.
  var change: UInt64 = 0
  /// When the subscription's period was extended.
  var extensions: [Int64] = []
}

/// What a transaction says about the offer that applied.
struct AppliedOffer: Sendable, Equatable {
  let type: OfferType
  /// Absent for introductory offers.
  let identifier: String?
  let discount: OfferDiscountType
  /// The whole length, ISO 8601.
  let period: String
}

/// How and when a transaction was taken back.
struct Revocation: Sendable, Equatable {
  let date: Int64
  let reason: RevocationReason
  let type: RevocationType
  /// Thousandths of a percent.
  let percentage: Int32
}
