/// What an app team tells Apple through the deprecated endpoint; the numbers are Apple's (§3).
///
/// In every number 0 means undeclared, except in `deliveryStatus`.
public struct ConsumptionInformationV1: Sendable, Equatable, Encodable {
  /// Whether the customer agreed to this being sent; Apple refuses anything but true.
  public var customerConsented: Bool
  /// Whether a trial or sample was offered before.
  public var sampleContentProvided: Bool
  /// 1 not, 2 partially, 3 fully consumed.
  public var consumptionStatus: Int32 = 0
  /// 1 Apple, 2 another.
  public var platform: Int32 = 0
  /// 0 delivered and working, 1 quality issue, 2 wrong item, 3 outage, 4 currency change, 5 other.
  public var deliveryStatus: Int32 = 0
  /// A UUID, or empty for none.
  public var appAccountToken = ""
  /// Age of the account, 1 (up to 3 days) to 7 (over a year).
  public var accountTenure: Int32 = 0
  /// Time of use, 1 (up to 5 minutes) to 7 (over 16 days).
  public var playTime: Int32 = 0
  /// Refunded so far, 1 (nothing) to 7 (2,000 US dollars or more).
  public var lifetimeDollarsRefunded: Int32 = 0
  /// Spent so far, 1 (nothing) to 7 (2,000 US dollars or more).
  public var lifetimeDollarsPurchased: Int32 = 0
  /// 1 active, 2 suspended, 3 terminated, 4 limited.
  public var userStatus: Int32 = 0
  /// 1 grant, 2 decline, 3 no preference.
  public var refundPreference: Int32?

  /// Everything else undeclared.
  public init(customerConsented: Bool, sampleContentProvided: Bool) {
    self.customerConsented = customerConsented
    self.sampleContentProvided = sampleContentProvided
  }
}
