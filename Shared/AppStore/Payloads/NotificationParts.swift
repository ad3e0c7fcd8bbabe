/// What a notification about a purchase carries.
public struct NotificationData: Payload, Equatable {
  /// The app in the App Store; absent in Sandbox.
  public var appAppleId: Int64?
  /// The app.
  public var bundleId: String?
  /// The app's build.
  public var bundleVersion: String?
  /// Where it happened.
  public var environment: AppEnvironment?
  /// A transaction as JWS; absent in TEST.
  public var signedTransactionInfo: String?
  /// Renewal info as JWS; auto-renewables only.
  public var signedRenewalInfo: String?
  /// State of the subscription at the outer `signedDate`.
  public var status: SubscriptionStatus?
  /// Why the customer wants a refund.
  public var consumptionRequestReason: ConsumptionRequestReason?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    appAppleId = try fields.int64("appAppleId")
    bundleId = try fields.string("bundleId")
    bundleVersion = try fields.string("bundleVersion")
    environment = try fields.value("environment")
    signedTransactionInfo = try fields.string("signedTransactionInfo")
    signedRenewalInfo = try fields.string("signedRenewalInfo")
    status = try fields.value("status")
    consumptionRequestReason = try fields.value("consumptionRequestReason")
  }
}

/// The result of a mass extension of renewal dates.
public struct NotificationSummary: Payload, Equatable {
  /// Where it happened.
  public var environment: AppEnvironment?
  /// The app in the App Store.
  public var appAppleId: Int64?
  /// The app.
  public var bundleId: String?
  /// The extended product.
  public var productId: String?
  /// The UUID of the request.
  public var requestIdentifier: String?
  /// Countries, ISO 3166-1 alpha-3; absent means all.
  public var storefrontCountryCodes: [String]?
  /// Extended subscriptions.
  public var succeededCount: Int64?
  /// Subscriptions not extended.
  public var failedCount: Int64?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    environment = try fields.value("environment")
    appAppleId = try fields.int64("appAppleId")
    bundleId = try fields.string("bundleId")
    productId = try fields.string("productId")
    requestIdentifier = try fields.string("requestIdentifier")
    storefrontCountryCodes = try fields.strings("storefrontCountryCodes")
    succeededCount = try fields.int64("succeededCount")
    failedCount = try fields.int64("failedCount")
  }
}

/// A token for a purchase outside the App Store; it has no environment field.
public struct ExternalPurchaseToken: Payload, Equatable {
  /// The token; in Sandbox it begins with `SANDBOX`.
  public var externalPurchaseId: String?
  /// When it was made, milliseconds.
  public var tokenCreationDate: Int64?
  /// The app in the App Store.
  public var appAppleId: Int64?
  /// The app.
  public var bundleId: String?
  /// Such as `ACQUISITION` or `SERVICES`.
  public var tokenType: String?
  /// When it ends, milliseconds.
  public var tokenExpirationDate: Int64?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    externalPurchaseId = try fields.string("externalPurchaseId")
    tokenCreationDate = try fields.milliseconds("tokenCreationDate")
    appAppleId = try fields.int64("appAppleId")
    bundleId = try fields.string("bundleId")
    tokenType = try fields.string("tokenType")
    tokenExpirationDate = try fields.milliseconds("tokenExpirationDate")
  }
}

/// What a notification about the app as a whole carries.
public struct NotificationAppData: Payload, Equatable {
  /// The app in the App Store.
  public var appAppleId: Int64?
  /// The app.
  public var bundleId: String?
  /// Where it happened.
  public var environment: AppEnvironment?
  /// The app transaction as JWS.
  public var signedAppTransactionInfo: String?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    appAppleId = try fields.int64("appAppleId")
    bundleId = try fields.string("bundleId")
    environment = try fields.value("environment")
    signedAppTransactionInfo = try fields.string("signedAppTransactionInfo")
  }
}

/// Seats that were given back; newer than what is documented in full.
public struct UnclaimInfo: Payload, Equatable {
  /// The app in the App Store, if sent.
  public var appAppleId: Int64?
  /// The app, if sent.
  public var bundleId: String?
  /// Where it happened, if sent.
  public var environment: AppEnvironment?
  /// UUIDs of the seats whose members lose access.
  public var unclaimSeatIds: [String]?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    appAppleId = try fields.int64("appAppleId")
    bundleId = try fields.string("bundleId")
    environment = try fields.value("environment")
    unclaimSeatIds = try fields.strings("unclaimSeatIds")
  }
}
