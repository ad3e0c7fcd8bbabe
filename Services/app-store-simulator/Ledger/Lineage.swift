import AppStore
import Catalog

/// A subscription with all its periods: what one `originalTransactionId` stands for.
struct Lineage: Sendable, Equatable {
  /// Where it stands; billing problems are not played.
  enum Standing: Sendable, Equatable {
    case active
    case expired(ExpirationIntent)
    case revoked
  }

  let originalId: UInt64
  let account: String
  let groupID: String
  /// All its transactions, oldest first; never empty.
  var charges: [UInt64]
  /// The newest of them: the current period.
  var current: UInt64
  var productId: String
  /// The product of the next period.
  var nextProductId: String
  var autoRenews = true
  var standing = Standing.active
  var schedule: Schedule
  var offer: OfferRun?
  /// When the present streak began.
  var streakStart: Int64
  let originalPurchaseDate: Int64
  var token: String?
  var storefront: Storefront
  var ownership = OwnershipType.purchased

  var isActive: Bool { standing == .active }

  /// `data.status` of notifications.
  var status: SubscriptionStatus {
    switch standing {
    case .active: .active
    case .expired: .expired
    case .revoked: .revoked
    }
  }
}

/// Periods in a row, counted from their common beginning, so that the 31st comes back after February.
struct Schedule: Sendable, Equatable {
  private(set) var anchor: Int64
  private(set) var period: Period
  private(set) var count = 1
  /// Milliseconds by which the store extended the last period.
  private(set) var extended: Int64 = 0

  init(from anchor: Int64, period: Period) {
    self.anchor = anchor
    self.period = period
  }

  /// The end of the last period.
  var end: Int64 { period.end(after: anchor, count: count) + extended }

  /// Moves the end of the last period; those behind it follow.
  mutating func extend(byDays days: Int64) { extended += days * 86_400_000 }

  /// Adds a period behind the last one.
  mutating func extend(by next: Period) {
    if next == period {
      count += 1
    } else {
      self = Schedule(from: end, period: next)
    }
  }
}

/// An offer of a subscription that goes on for some more periods.
struct OfferRun: Sendable, Equatable {
  let applied: AppliedOffer
  let period: Period
  let price: Int64
  /// Periods at this price after the current one.
  var remaining: Int

  /// How the first period of a subscription is bought with an offer of the catalog.
  init(_ offer: Offer, type: OfferType, identifier: String?) {
    let isPerPeriod = offer.paymentMode == .payAsYouGo
    let whole = Period(offer.period.value * offer.periodCount, offer.period.unit) ?? offer.period
    applied = AppliedOffer(
      type: type, identifier: identifier,
      discount: OfferDiscountType(rawValue: offer.paymentMode.appStoreDiscountType),
      period: whole.description)
    period = isPerPeriod ? offer.period : whole
    price = offer.priceMilliunits
    remaining = isPerPeriod ? offer.periodCount - 1 : 0
  }
}
