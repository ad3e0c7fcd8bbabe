/// A reduced price for some periods of a subscription.
public struct Offer: Sendable, Equatable {
  /// Xcode's id of the offer; empty if the file has none.
  public let internalID: String
  /// The offer id of promotional and win-back offers; introductory offers and codes have none.
  public let identifier: String?
  /// The internal name; of an offer code, its offer's name.
  public let referenceName: String?
  /// How it is paid.
  public let paymentMode: PaymentMode
  /// The length of one of its periods.
  public let period: Period
  /// How many periods it lasts, from 1.
  public let periodCount: Int
  /// The price of one payment; nil if free.
  public let displayPrice: String?
  /// The price of one payment, in thousandths of the currency unit; 0 if free.
  public let priceMilliunits: Int64
  /// The billing plan it belongs to; nil before version 5 of the file.
  public let billingPlanType: String?
  /// Who may redeem an offer code: `new`, `existing`, `expired`; empty for other offers.
  public let eligibility: [String]
  /// Whether an offer code may be combined with an introductory offer; nil for other offers.
  public let isStackable: Bool?
  /// Whether the local customer counts as eligible for a win-back offer; nil for other offers.
  public let isEligible: Bool?

  /// How an offer is paid.
  public enum PaymentMode: String, Sendable, Equatable, CaseIterable {
    /// Nothing is paid.
    case free
    /// The reduced price is paid in each period.
    case payAsYouGo
    /// One price is paid for the whole offer.
    case payUpFront

    /// The `offerDiscountType` in signed transactions.
    public var appStoreDiscountType: String {
      switch self {
      case .free: "FREE_TRIAL"
      case .payAsYouGo: "PAY_AS_YOU_GO"
      case .payUpFront: "PAY_UP_FRONT"
      }
    }
  }
}
