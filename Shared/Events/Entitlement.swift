public import JSON

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

  /// Makes a right.
  public init(name: String, environment: String, isActive: Bool) {
    self.name = name
    self.environment = environment
    self.isActive = isActive
  }
}

/// What gives a right or a balance.
public struct Grantor: Codable, Sendable, Hashable {
  /// `transaction` or `grant`.
  public var kind: String
  /// The lineage, for transactions.
  public var lineage: String?
  /// Apple's transaction, for transactions.
  public var transactionId: String?

  /// Makes a grantor.
  public init(kind: String, lineage: String? = nil, transactionId: String? = nil) {
    self.kind = kind
    self.lineage = lineage
    self.transactionId = transactionId
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
  /// `purchase`, `renewal`, `expiry`, `refund`, `refund-reversed`, `transfer`, `catalog` or `lineage`.
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
  /// Why.
  public var cause: ChangeCause
  /// When it was decided, UTC milliseconds.
  public var changedAt: Int64

  /// Makes the event.
  public init(
    customer: String, version: Int64, balance: Balance, delta: Int64, shortfall: Int64? = nil,
    cause: ChangeCause, changedAt: Int64
  ) {
    self.customer = customer
    self.version = version
    self.balance = balance
    self.delta = delta
    self.shortfall = shortfall
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
      name: try fields.text("name"),
      environment: try fields.text("environment"),
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
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("environment", environment)
    json.number("expiresAt", expiresAt)
    json.number("gracePeriodExpiresAt", gracePeriodExpiresAt)
    if let grantor { json.object("grantor", grantor.write) }
    json.bool("isActive", isActive)
    json.text("name", name)
    json.text("ownershipType", ownershipType)
    json.text("pendingProductId", pendingProductId)
    json.text("periodType", periodType)
    json.text("productId", productId)
    json.text("productType", productType)
    json.number("purchasedAt", purchasedAt)
    json.number("startedAt", startedAt)
    json.bool("willRenew", willRenew)
  }
}

extension Grantor: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      kind: try fields.text("kind"),
      lineage: try fields.optionalText("lineage"),
      transactionId: try fields.optionalText("transactionId"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("kind", kind)
    json.text("lineage", lineage)
    json.text("transactionId", transactionId)
  }
}

extension Balance: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      unit: try fields.text("unit"),
      environment: try fields.text("environment"),
      amount: try fields.number("amount"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.number("amount", amount)
    json.text("environment", environment)
    json.text("unit", unit)
  }
}

extension ChangeCause: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      kind: try fields.text("kind"),
      lineage: try fields.optionalText("lineage"),
      revision: try fields.optionalNumber("revision"),
      transactionId: try fields.optionalText("transactionId"),
      isImport: try fields.optionalBool("isImport"),
      author: try fields.optionalText("author"),
      reason: try fields.optionalText("reason"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("author", author)
    json.bool("isImport", isImport)
    json.text("kind", kind)
    json.text("lineage", lineage)
    json.text("reason", reason)
    json.number("revision", revision)
    json.text("transactionId", transactionId)
  }
}

extension EntitlementChanged: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      customer: try fields.text("customer"),
      version: try fields.number("version"),
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

extension BalanceChanged: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      customer: try fields.text("customer"),
      version: try fields.number("version"),
      balance: try fields.object("balance", Balance.init(fields:)),
      delta: try fields.number("delta"),
      shortfall: try fields.optionalNumber("shortfall"),
      cause: try fields.object("cause", ChangeCause.init(fields:)),
      changedAt: try fields.number("changedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.object("balance", balance.write)
    json.object("cause", cause.write)
    json.number("changedAt", changedAt)
    json.text("customer", customer)
    json.number("delta", delta)
    json.number("shortfall", shortfall)
    json.number("version", version)
  }
}

extension CustomerState: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      customer: try fields.text("customer"),
      version: try fields.number("version"),
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
