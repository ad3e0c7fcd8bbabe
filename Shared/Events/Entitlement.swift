/// A right that a customer has or had, and what gives it.
public struct Entitlement: Codable, Sendable, Equatable {
  /// The right's name, such as `pro`.
  public var name: String
  /// Apple's environment; rights of the sandbox never mix with those of production.
  public var environment: String
  /// Whether the customer may use it.
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

/// An amount of a consumable unit.
public struct Balance: Codable, Sendable, Equatable {
  /// The unit, such as `coins`.
  public var unit: String
  /// Apple's environment.
  public var environment: String
  /// How much there is; the sum of the customer's entries.
  public var amount: Int64

  /// Makes a balance.
  public init(unit: String, environment: String, amount: Int64) {
    self.unit = unit
    self.environment = environment
    self.amount = amount
  }
}

/// Why something of a customer changed.
public struct ChangeCause: Codable, Sendable, Equatable {
  /// `purchase`, `renewal`, `expiry`, `refund`, `refund-reversed`, `revocation`, `transfer`, `merge`,
  /// `erasure`, `grant`, `spend`, `catalog`, `consumption-request` or `lineage`.
  public var kind: String
  /// The lineage behind it.
  public var lineage: String?
  /// That lineage's revision.
  public var revision: Int64?
  /// The transaction behind it.
  public var transactionId: String?
  /// True when it was imported from the time before Purser and is no news.
  public var isImport: Bool?
  /// Who did it, where a person or an own backend did.
  public var author: String?
  /// Why, in that person's words.
  public var reason: String?

  /// Makes a cause.
  public init(
    kind: String, lineage: String? = nil, revision: Int64? = nil, transactionId: String? = nil,
    isImport: Bool? = nil, author: String? = nil, reason: String? = nil
  ) {
    self.kind = kind
    self.lineage = lineage
    self.revision = revision
    self.transactionId = transactionId
    self.isImport = isImport
    self.author = author
    self.reason = reason
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

/// A balance changed.
public struct BalanceChanged: Codable, Sendable, Equatable {
  /// Whose.
  public var customer: String
  /// Grows by one with each event of the customer.
  public var version: Int64
  /// The balance as it is now.
  public var balance: Balance
  /// By how much it changed.
  public var delta: Int64
  /// What a refund should have taken back but could not, as the balance stops at zero.
  public var shortfall: Int64?
  /// The entry behind it; nil where a whole balance moved, as by a merge.
  public var entry: BalanceEntry?
  /// Why.
  public var cause: ChangeCause
  /// When it was decided, UTC milliseconds.
  public var changedAt: Int64

  /// Makes the event.
  public init(
    customer: String, version: Int64, balance: Balance, delta: Int64, shortfall: Int64? = nil,
    entry: BalanceEntry? = nil, cause: ChangeCause, changedAt: Int64
  ) {
    self.customer = customer
    self.version = version
    self.balance = balance
    self.delta = delta
    self.shortfall = shortfall
    self.entry = entry
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
