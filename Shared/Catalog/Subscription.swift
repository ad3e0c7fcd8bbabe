/// What an auto-renewable product has beyond other products.
public struct Subscription: Sendable, Equatable {
  /// The group's id, as `subscriptionGroupIdentifier` in signed transactions.
  public let groupID: String
  /// The group's name.
  public let groupName: String
  /// The rank in the group: 1 is the highest, equal numbers are equal levels (`groupNumber`).
  public let level: Int
  /// How long one paid period is.
  public let period: Period
  /// Offers for new subscribers.
  public let introductoryOffers: [Offer]
  /// Promotional offers (`adHocOffers`).
  public let promotionalOffers: [Offer]
  /// Offers behind codes.
  public let offerCodes: [Offer]
  /// Offers for former subscribers.
  public let winBackOffers: [Offer]
  /// The ways of payment; empty before version 5 of the file.
  public let billingPlans: [BillingPlan]
}

/// A way of paying for a subscription.
public struct BillingPlan: Sendable, Equatable {
  /// `BILLED_UPFRONT`, `MONTHLY`, or a newer word.
  public let type: String
  /// What one payment costs.
  public let displayPrice: String
  /// What one payment costs, in thousandths of the currency unit.
  public let priceMilliunits: Int64
  /// What the whole commitment costs; nil if the file does not say.
  public let commitmentDisplayPrice: String?
  /// What the whole commitment costs, in thousandths of the currency unit.
  public let commitmentPriceMilliunits: Int64?
  /// Whether customers can choose it.
  public let isEnabled: Bool
}
