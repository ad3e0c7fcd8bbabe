public import JSON

/// A right that a customer has or had, and what gives it.
public struct Entitlement: Codable, Sendable, Equatable {
  /// The right, such as `pro`, as the catalog names it.
  public var name: String
  /// `Production`, `Sandbox` or `Xcode`; rights of the sandbox never mix with those of production.
  public var environment: String
  /// Whether the customer may use it.
  ///
  /// Trust this, not `expiresAt`: a renewal may arrive a little late, and the right lasts meanwhile.
  public var isActive: Bool
  /// The product that gives it.
  public var productId: String?
  /// Apple's product type of that product.
  public var productType: String?
  /// What gives it.
  public var grantor: Grantor?
  /// When the present period began, UTC milliseconds.
  public var purchasedAt: Int64?
  /// When the right began without a gap since, UTC milliseconds.
  public var startedAt: Int64?
  /// When it ends unless something comes, UTC milliseconds; nil for a right without end.
  public var expiresAt: Int64?
  /// Whether Apple will try to renew it.
  public var willRenew: Bool?
  /// Until when Apple's grace period keeps it, UTC milliseconds.
  public var gracePeriodExpiresAt: Int64?
  /// `trial`, `introductory`, `promotional`, `offer-code`, `win-back` or `normal`.
  public var periodType: String?
  /// The product that the next period will be of, where it differs.
  public var pendingProductId: String?
  /// `PURCHASED`, `FAMILY_SHARED` or what Apple adds.
  public var ownershipType: String?
  /// `active`, `grace-period`, `billing-retry`, `expired`, `refunded` or `revoked`.
  ///
  /// Says how the grantor stands; whether the right may be used says `isActive` alone.
  public var status: String?
  /// When it was first seen that it will not renew, UTC milliseconds; nil while it will.
  public var unsubscribeDetectedAt: Int64?
  /// When it was first seen that Apple cannot bill, UTC milliseconds; nil once it could again.
  public var billingIssueDetectedAt: Int64?
  /// `pending` while the customer has not agreed to a higher price, then `accepted`.
  public var priceConsent: String?
  /// Apple's id of the offer of the present period.
  public var offerId: String?
  /// When the purchase was refunded or revoked, UTC milliseconds.
  public var refundedAt: Int64?
  /// The commitment, for subscriptions that are billed monthly for a longer time.
  public var commitment: Commitment?

  /// Makes a right.
  public init(name: String, environment: String, isActive: Bool) {
    self.name = name
    self.environment = environment
    self.isActive = isActive
  }
}

/// A commitment of several periods, of which each is billed by itself.
public struct Commitment: Codable, Sendable, Hashable {
  /// Which of the periods the present one is, from 1.
  public var period: Int64?
  /// How many periods it has.
  public var periods: Int64?
  /// When it ends, UTC milliseconds.
  public var expiresAt: Int64?
  /// Whether another one follows.
  public var willRenew: Bool?

  /// Makes a commitment of which nothing is known.
  public init() {}
}

/// What gives a right or a balance.
public struct Grantor: Codable, Sendable, Hashable {
  /// `transaction` or `grant`.
  public var kind: String
  /// The lineage, for transactions.
  public var lineage: String?
  /// Apple's transaction, for transactions.
  public var transactionId: String?
  /// The grant, for grants.
  public var grantId: String?

  /// Makes a grantor.
  public init(
    kind: String, lineage: String? = nil, transactionId: String? = nil, grantId: String? = nil
  ) {
    self.kind = kind
    self.lineage = lineage
    self.transactionId = transactionId
    self.grantId = grantId
  }
}

/// A right came, changed or went (`activated`, `updated`, `deactivated`).
public struct EntitlementChanged: Codable, Sendable, Equatable {
  /// Whose.
  public var customer: String
  /// Grows by one with each event of the customer.
  public var version: Int64
  /// The right as it is now.
  public var entitlement: Entitlement
  /// The right as it was, if there was one.
  public var previous: Entitlement?
  /// Why.
  public var cause: ChangeCause
  /// When it was decided, UTC milliseconds.
  public var changedAt: Int64

  /// Makes the event.
  public init(
    customer: String, version: Int64, entitlement: Entitlement, previous: Entitlement?,
    cause: ChangeCause, changedAt: Int64
  ) {
    self.customer = customer
    self.version = version
    self.entitlement = entitlement
    self.previous = previous
    self.cause = cause
    self.changedAt = changedAt
  }
}

/// What a customer owns now: the record of the compacted topic.
public struct CustomerState: Codable, Sendable, Equatable {
  /// Whose.
  public var customer: String
  /// The version of the customer's newest event.
  public var version: Int64
  /// The active rights, by environment and name.
  public var entitlements: [Entitlement]
  /// The balances, by environment and unit.
  public var balances: [Balance]
  /// When it last changed, UTC milliseconds.
  public var updatedAt: Int64

  /// Makes a state.
  public init(
    customer: String, version: Int64, entitlements: [Entitlement], balances: [Balance],
    updatedAt: Int64
  ) {
    self.customer = customer
    self.version = version
    self.entitlements = entitlements
    self.balances = balances
    self.updatedAt = updatedAt
  }
}

extension Entitlement: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      name: try fields.text("name"), environment: try fields.text("environment"),
      isActive: try fields.bool("isActive"))
    productId = try fields.optionalText("productId")
    productType = try fields.optionalText("productType")
    grantor = try fields.optionalObject("grantor", Grantor.init(fields:))
    purchasedAt = try fields.optionalNumber("purchasedAt")
    startedAt = try fields.optionalNumber("startedAt")
    expiresAt = try fields.optionalNumber("expiresAt")
    willRenew = try fields.optionalBool("willRenew")
    gracePeriodExpiresAt = try fields.optionalNumber("gracePeriodExpiresAt")
    periodType = try fields.optionalText("periodType")
    pendingProductId = try fields.optionalText("pendingProductId")
    ownershipType = try fields.optionalText("ownershipType")
    status = try fields.optionalText("status")
    unsubscribeDetectedAt = try fields.optionalNumber("unsubscribeDetectedAt")
    billingIssueDetectedAt = try fields.optionalNumber("billingIssueDetectedAt")
    priceConsent = try fields.optionalText("priceConsent")
    offerId = try fields.optionalText("offerId")
    refundedAt = try fields.optionalNumber("refundedAt")
    commitment = try fields.optionalObject("commitment", Commitment.init(fields:))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.number("billingIssueDetectedAt", billingIssueDetectedAt)
    if let commitment { json.object("commitment", commitment.write) }
    json.text("environment", environment)
    json.number("expiresAt", expiresAt)
    json.number("gracePeriodExpiresAt", gracePeriodExpiresAt)
    if let grantor { json.object("grantor", grantor.write) }
    json.bool("isActive", isActive)
    json.text("name", name)
    json.text("offerId", offerId)
    json.text("ownershipType", ownershipType)
    json.text("pendingProductId", pendingProductId)
    json.text("periodType", periodType)
    json.text("priceConsent", priceConsent)
    json.text("productId", productId)
    json.text("productType", productType)
    json.number("purchasedAt", purchasedAt)
    json.number("refundedAt", refundedAt)
    json.number("startedAt", startedAt)
    json.text("status", status)
    json.number("unsubscribeDetectedAt", unsubscribeDetectedAt)
    json.bool("willRenew", willRenew)
  }
}

extension Commitment: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init()
    period = try fields.optionalNumber("period")
    periods = try fields.optionalNumber("periods")
    expiresAt = try fields.optionalNumber("expiresAt")
    willRenew = try fields.optionalBool("willRenew")
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.number("expiresAt", expiresAt)
    json.number("period", period)
    json.number("periods", periods)
    json.bool("willRenew", willRenew)
  }
}

extension Grantor: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      kind: try fields.text("kind"), lineage: try fields.optionalText("lineage"),
      transactionId: try fields.optionalText("transactionId"),
      grantId: try fields.optionalText("grantId"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("grantId", grantId)
    json.text("kind", kind)
    json.text("lineage", lineage)
    json.text("transactionId", transactionId)
  }
}

extension EntitlementChanged: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      customer: try fields.text("customer"), version: try fields.number("version"),
      entitlement: try fields.object("entitlement", Entitlement.init(fields:)),
      previous: try fields.optionalObject("previous", Entitlement.init(fields:)),
      cause: try fields.object("cause", ChangeCause.init(fields:)),
      changedAt: try fields.number("changedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.object("cause", cause.write)
    json.number("changedAt", changedAt)
    json.text("customer", customer)
    json.object("entitlement", entitlement.write)
    if let previous { json.object("previous", previous.write) }
    json.number("version", version)
  }
}

extension CustomerState: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      customer: try fields.text("customer"), version: try fields.number("version"),
      entitlements: try fields.objects("entitlements", Entitlement.init(fields:)),
      balances: try fields.objects("balances", Balance.init(fields:)),
      updatedAt: try fields.number("updatedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.objects("balances", balances) { $0.write(to: &$1) }
    json.text("customer", customer)
    json.objects("entitlements", entitlements) { $0.write(to: &$1) }
    json.number("updatedAt", updatedAt)
    json.number("version", version)
  }
}
