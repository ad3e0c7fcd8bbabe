public import JSON

/// Whether the customer to whom a lineage state is addressed has the lineage.
public struct Holding: RawRepresentable, Codable, Hashable, Sendable {
  /// The word on the wire.
  public let rawValue: String

  /// Wraps a word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The lineage is this customer's.
  public static let held = Holding(rawValue: "held")
  /// The lineage was this customer's and now is another's.
  public static let left = Holding(rawValue: "left")
}

/// The whole state of a lineage at one revision: enough to derive everything downstream.
public struct LineageState: Codable, Sendable, Equatable {
  /// Which lineage.
  public var lineage: LineageID
  /// Grows by one with each change of the lineage.
  public var revision: Int64
  /// To whom this state is addressed.
  public var customer: String
  /// Whether that customer has the lineage.
  public var holding: Holding
  /// Every transaction that is known, oldest purchase first.
  public var transactions: [LineageTransaction]
  /// The newest renewal info, for auto-renewable subscriptions.
  public var renewal: LineageRenewal?
  /// Apple's newest `status`: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
  public var status: Int64?
  /// When Apple said so, UTC milliseconds.
  public var statusDate: Int64?
  /// What brought this revision.
  public var cause: LineageCause
  /// Whether the customer shares it with its owner, by the transfer policy `share`; nil for no.
  public var isShared: Bool?
  /// When an owner of it was erased last, UTC milliseconds: what was bought before brings no balances
  /// again; nil for never.
  public var erasedAt: Int64?
  /// SHA-256 of Xcode's certificate, in environment Xcode: its signatures prove nothing by Apple.
  public var xcodeCertificate: String?
  /// When the ledger decided it, UTC milliseconds.
  public var decidedAt: Int64

  /// Makes a state.
  public init(
    lineage: LineageID, revision: Int64, customer: String, holding: Holding,
    transactions: [LineageTransaction], renewal: LineageRenewal? = nil, status: Int64? = nil,
    statusDate: Int64? = nil, cause: LineageCause, decidedAt: Int64
  ) {
    self.lineage = lineage
    self.revision = revision
    self.customer = customer
    self.holding = holding
    self.transactions = transactions
    self.renewal = renewal
    self.status = status
    self.statusDate = statusDate
    self.cause = cause
    self.decidedAt = decidedAt
  }
}

/// What brought a revision of a lineage.
public struct LineageCause: Codable, Sendable, Equatable {
  /// `notification`, `proof`, `receipt`, `back-fill`, `reconcile`, `import`, `refresh`,
  /// `token-known`, `transfer` (by support), `merge` or `erasure`.
  public var kind: String
  /// Apple's `notificationType`, for notifications.
  public var notificationType: String?
  /// Apple's `subtype`, for notifications.
  public var subtype: String?
  /// SHA-256 of the signed text behind it, lower-case hex.
  public var fact: String?
  /// The transaction that it was about, such as the one that a customer wants to give back.
  public var transactionId: String?
  /// Why a refund is asked for, with CONSUMPTION_REQUEST: `UNINTENDED_PURCHASE` and so on.
  public var consumptionRequestReason: String?
  /// When Apple signed the notification, UTC milliseconds.
  public var signedDate: Int64?

  /// Makes a cause.
  public init(
    kind: String, notificationType: String? = nil, subtype: String? = nil, fact: String? = nil,
    transactionId: String? = nil, consumptionRequestReason: String? = nil, signedDate: Int64? = nil
  ) {
    self.kind = kind
    self.notificationType = notificationType
    self.subtype = subtype
    self.fact = fact
    self.transactionId = transactionId
    self.consumptionRequestReason = consumptionRequestReason
    self.signedDate = signedDate
  }
}

extension LineageState: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      lineage: try fields.object("lineage", LineageID.init(fields:)),
      revision: try fields.number("revision"), customer: try fields.text("customer"),
      holding: Holding(rawValue: try fields.text("holding")),
      transactions: try fields.objects("transactions", LineageTransaction.init(fields:)),
      renewal: try fields.optionalObject("renewal", LineageRenewal.init(fields:)),
      status: try fields.optionalNumber("status"),
      statusDate: try fields.optionalNumber("statusDate"),
      cause: try fields.object("cause", LineageCause.init(fields:)),
      decidedAt: try fields.number("decidedAt"))
    isShared = try fields.optionalBool("isShared")
    erasedAt = try fields.optionalNumber("erasedAt")
    xcodeCertificate = try fields.optionalText("xcodeCertificate")
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.object("cause", cause.write)
    json.text("customer", customer)
    json.number("decidedAt", decidedAt)
    json.number("erasedAt", erasedAt)
    json.text("holding", holding.rawValue)
    json.bool("isShared", isShared)
    json.object("lineage", lineage.write)
    if let renewal { json.object("renewal", renewal.write) }
    json.number("revision", revision)
    json.number("status", status)
    json.number("statusDate", statusDate)
    json.objects("transactions", transactions) { $0.write(to: &$1) }
    json.text("xcodeCertificate", xcodeCertificate)
  }
}

extension LineageCause: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      kind: try fields.text("kind"), notificationType: try fields.optionalText("notificationType"),
      subtype: try fields.optionalText("subtype"), fact: try fields.optionalText("fact"),
      transactionId: try fields.optionalText("transactionId"),
      consumptionRequestReason: try fields.optionalText("consumptionRequestReason"),
      signedDate: try fields.optionalNumber("signedDate"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("consumptionRequestReason", consumptionRequestReason)
    json.text("fact", fact)
    json.text("kind", kind)
    json.text("notificationType", notificationType)
    json.number("signedDate", signedDate)
    json.text("subtype", subtype)
    json.text("transactionId", transactionId)
  }
}
