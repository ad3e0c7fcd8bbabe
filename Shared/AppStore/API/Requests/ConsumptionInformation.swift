/// What the app team tells Apple about a purchase that a customer wants refunded (version 2).
public struct ConsumptionInformation: Sendable, Equatable, Encodable {
  /// Whether the customer agreed to this being sent; Apple refuses anything but true.
  public var customerConsented: Bool
  /// Whether a trial or sample was offered before.
  public var sampleContentProvided: Bool
  /// Whether and how it was delivered.
  public var deliveryStatus: DeliveryStatus
  /// How much was used, in thousandths of a percent, 0 to 100,000; not for auto-renewables.
  public var consumptionPercentage: Int32?
  /// What the app team would like.
  public var refundPreference: RefundPreference?

  /// Describes a purchase.
  public init(
    customerConsented: Bool, sampleContentProvided: Bool, deliveryStatus: DeliveryStatus,
    consumptionPercentage: Int32? = nil, refundPreference: RefundPreference? = nil
  ) {
    self.customerConsented = customerConsented
    self.sampleContentProvided = sampleContentProvided
    self.deliveryStatus = deliveryStatus
    self.consumptionPercentage = consumptionPercentage
    self.refundPreference = refundPreference
  }

  static let noConsent = RequestParts.bad(
    "customerConsented",
    "without the customer's consent nothing about the purchase may be sent to Apple")

  func check() throws(APIError) {
    guard customerConsented else { throw Self.noConsent }
    guard consumptionPercentage.map({ (0...100_000).contains($0) }) ?? true else {
      throw RequestParts.bad(
        "consumptionPercentage", "consumptionPercentage is in thousandths of a percent, 0 to 100000"
      )
    }
    guard refundPreference != .grantProrated || (consumptionPercentage ?? 1) > 0 else {
      throw RequestParts.bad(
        "consumptionPercentage", "GRANT_PRORATED needs a consumptionPercentage above 0")
    }
  }
}

/// Whether and how a purchase was delivered.
public struct DeliveryStatus: OpenVocabulary {
  /// The value as sent.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `DELIVERED`.
  public static let delivered = DeliveryStatus(rawValue: "DELIVERED")
  /// `UNDELIVERED_QUALITY_ISSUE`.
  public static let qualityIssue = DeliveryStatus(rawValue: "UNDELIVERED_QUALITY_ISSUE")
  /// `UNDELIVERED_WRONG_ITEM`.
  public static let wrongItem = DeliveryStatus(rawValue: "UNDELIVERED_WRONG_ITEM")
  /// `UNDELIVERED_SERVER_OUTAGE`.
  public static let serverOutage = DeliveryStatus(rawValue: "UNDELIVERED_SERVER_OUTAGE")
  /// `UNDELIVERED_OTHER`.
  public static let other = DeliveryStatus(rawValue: "UNDELIVERED_OTHER")
}

/// What the app team would like Apple to decide.
public struct RefundPreference: OpenVocabulary {
  /// The value as sent.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `DECLINE`.
  public static let decline = RefundPreference(rawValue: "DECLINE")
  /// `GRANT_FULL`.
  public static let grantFull = RefundPreference(rawValue: "GRANT_FULL")
  /// `GRANT_PRORATED`.
  public static let grantProrated = RefundPreference(rawValue: "GRANT_PRORATED")
}
