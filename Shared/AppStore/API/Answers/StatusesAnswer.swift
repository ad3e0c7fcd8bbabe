/// Answer of Get All Subscription Statuses; it has no pages.
public struct StatusesAnswer: Payload, Equatable {
  /// The environment; unknown text is kept.
  public var environment: AppEnvironment?
  /// The app.
  public var bundleId: String?
  /// The app in the App Store; absent in the sandbox.
  public var appAppleId: Int64?
  /// One entry per subscription group.
  public var data: [GroupStatuses] = []

  /// An empty answer, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    environment = try fields.value("environment")
    bundleId = try fields.string("bundleId")
    appAppleId = try fields.int64("appAppleId")
    data = try fields.objects("data") ?? []
  }
}

/// The subscriptions of one group.
public struct GroupStatuses: Payload, Equatable {
  /// The group.
  public var subscriptionGroupIdentifier: String?
  /// The newest transaction of each lineage.
  public var lastTransactions: [LastTransaction] = []

  /// An empty group, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    subscriptionGroupIdentifier = try fields.string("subscriptionGroupIdentifier")
    lastTransactions = try fields.objects("lastTransactions") ?? []
  }
}

/// The newest transaction of a subscription and its state.
public struct LastTransaction: Payload, Equatable {
  /// The state now.
  public var status: SubscriptionStatus?
  /// The lineage.
  public var originalTransactionId: String?
  /// The transaction as JWS.
  public var signedTransactionInfo: String?
  /// The renewal info as JWS.
  public var signedRenewalInfo: String?

  /// An empty entry, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    status = try fields.value("status")
    originalTransactionId = try fields.string("originalTransactionId")
    signedTransactionInfo = try fields.string("signedTransactionInfo")
    signedRenewalInfo = try fields.string("signedRenewalInfo")
  }
}
