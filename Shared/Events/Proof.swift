public import JSON

/// Of which kind the text is that the app handed over as proof.
public struct ProofKind: RawRepresentable, Codable, Hashable, Sendable {
  /// The word on the wire.
  public let rawValue: String

  /// Wraps a word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A signed transaction of StoreKit 2 (`Transaction.jwsRepresentation`).
  public static let signedTransaction = ProofKind(rawValue: "signed-transaction")
  /// Apple's id of a transaction; Apple is asked for the transaction.
  public static let transactionId = ProofKind(rawValue: "transaction-id")
  /// An app receipt of StoreKit 1 (PKCS#7), as base64.
  public static let receipt = ProofKind(rawValue: "receipt")
  /// A transaction receipt of iOS 6 (`SKPaymentTransaction.transactionReceipt`), as base64.
  public static let transactionReceipt = ProofKind(rawValue: "transaction-receipt")
}

/// What the app handed over to prove a purchase, on its way to verification.
public struct Proof: Codable, Sendable, Equatable {
  /// Derived from the order and the content, so that the same proof posted again is the same proof.
  public var id: String
  /// The order to which it was posted; nil for a restore.
  public var orderId: String?
  /// The authenticated customer who posted it.
  public var customer: String
  /// The app of the order.
  public var bundleId: String
  /// Of which kind the content is.
  public var kind: ProofKind
  /// The proof itself: a JWS, an id or a receipt in standard base64.
  public var content: String
  /// When it was posted, UTC milliseconds.
  public var submittedAt: Int64

  /// Makes a proof.
  public init(
    id: String, orderId: String?, customer: String, bundleId: String, kind: ProofKind,
    content: String, submittedAt: Int64
  ) {
    self.id = id
    self.orderId = orderId
    self.customer = customer
    self.bundleId = bundleId
    self.kind = kind
    self.content = content
    self.submittedAt = submittedAt
  }

  /// The longest signed transaction that is taken, in bytes (128 KiB; real ones have 4).
  public static let maximumSignedBytes = 128 * 1024
}

/// What became of a proof.
public struct Outcome: RawRepresentable, Codable, Hashable, Sendable {
  /// The word on the wire.
  public let rawValue: String

  /// Wraps a word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The proof told something new, and it is the customer's.
  public static let accepted = Outcome(rawValue: "accepted")
  /// All of it was known, and it is the customer's: success too.
  public static let alreadyRecorded = Outcome(rawValue: "already-recorded")
  /// Genuine, but the lineage belongs to another customer and the policy keeps it there.
  public static let belongsToAnother = Outcome(rawValue: "belongs-to-another")
  /// Not genuine, or not for this app or environment.
  public static let rejected = Outcome(rawValue: "rejected")
}

/// Which of several lineages of one proof an outcome is about.
///
/// A receipt proves all that it lists at once. Each lineage has its own outcome, and the proof is
/// decided when all of them are.
public struct ProofPart: Codable, Sendable, Equatable {
  /// Which part: 1…`count`.
  public var index: Int64
  /// How many lineages the proof is about.
  public var count: Int64

  /// Makes a part.
  public init(index: Int64, count: Int64) {
    self.index = index
    self.count = count
  }
}

/// The one outcome of a proof, or of one lineage that a receipt lists; published once.
public struct ProofOutcome: Codable, Sendable, Equatable {
  /// Which proof.
  public var proofId: String
  /// Which of the proof's lineages this is about; nil for a proof of one transaction.
  public var part: ProofPart?
  /// The order to which it was posted; nil for a restore.
  public var orderId: String?
  /// Who posted it.
  public var customer: String
  /// What became of it.
  public var outcome: Outcome
  /// A stable word for why it was refused, such as `bad-signature`.
  public var reason: String?
  /// The same for people.
  public var detail: String?
  /// The lineage, where the proof is genuine.
  public var lineage: String?
  /// The lineage's revision that includes the proof.
  public var revision: Int64?
  /// Apple's transaction, where the proof is genuine.
  public var transactionId: String?
  /// What was bought.
  public var productId: String?
  /// How many.
  public var quantity: Int64?
  /// The token that the transaction bears, in lower case.
  public var appAccountToken: String?
  /// When the transaction was refunded or revoked, UTC milliseconds, as far as is known.
  public var revocationDate: Int64?
  /// When it was decided, UTC milliseconds.
  public var decidedAt: Int64

  /// Makes an outcome.
  public init(
    proofId: String, part: ProofPart? = nil, orderId: String?, customer: String, outcome: Outcome,
    reason: String? = nil, detail: String? = nil, lineage: String? = nil, revision: Int64? = nil,
    transactionId: String? = nil, productId: String? = nil, quantity: Int64? = nil,
    appAccountToken: String? = nil, revocationDate: Int64? = nil, decidedAt: Int64
  ) {
    self.proofId = proofId
    self.part = part
    self.orderId = orderId
    self.customer = customer
    self.outcome = outcome
    self.reason = reason
    self.detail = detail
    self.lineage = lineage
    self.revision = revision
    self.transactionId = transactionId
    self.productId = productId
    self.quantity = quantity
    self.appAccountToken = appAccountToken
    self.revocationDate = revocationDate
    self.decidedAt = decidedAt
  }
}

extension Proof: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      id: try fields.text("id"), orderId: try fields.optionalText("orderId"),
      customer: try fields.text("customer"), bundleId: try fields.text("bundleId"),
      kind: ProofKind(rawValue: try fields.text("kind")), content: try fields.text("content"),
      submittedAt: try fields.number("submittedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("bundleId", bundleId)
    json.text("content", content)
    json.text("customer", customer)
    json.text("id", id)
    json.text("kind", kind.rawValue)
    json.text("orderId", orderId)
    json.number("submittedAt", submittedAt)
  }
}

extension ProofPart: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(index: try fields.number("index"), count: try fields.number("count"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.number("count", count)
    json.number("index", index)
  }
}

extension ProofOutcome: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      proofId: try fields.text("proofId"),
      part: try fields.optionalObject("part", ProofPart.init(fields:)),
      orderId: try fields.optionalText("orderId"), customer: try fields.text("customer"),
      outcome: Outcome(rawValue: try fields.text("outcome")),
      reason: try fields.optionalText("reason"), detail: try fields.optionalText("detail"),
      lineage: try fields.optionalText("lineage"), revision: try fields.optionalNumber("revision"),
      transactionId: try fields.optionalText("transactionId"),
      productId: try fields.optionalText("productId"),
      quantity: try fields.optionalNumber("quantity"),
      appAccountToken: try fields.optionalText("appAccountToken"),
      revocationDate: try fields.optionalNumber("revocationDate"),
      decidedAt: try fields.number("decidedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("appAccountToken", appAccountToken)
    json.text("customer", customer)
    json.number("decidedAt", decidedAt)
    json.text("detail", detail)
    json.text("lineage", lineage)
    json.text("orderId", orderId)
    json.text("outcome", outcome.rawValue)
    if let part { json.object("part", part.write) }
    json.text("productId", productId)
    json.text("proofId", proofId)
    json.number("quantity", quantity)
    json.text("reason", reason)
    json.number("revision", revision)
    json.number("revocationDate", revocationDate)
    json.text("transactionId", transactionId)
  }
}
