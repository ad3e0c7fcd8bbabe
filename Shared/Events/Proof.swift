/// What the app handed over to prove a purchase, on its way to verification.
public struct Proof: Codable, Sendable, Equatable {
  /// Derived from the order and the content, so that the same proof posted again is the same proof.
  public var id: String
  /// The order to which it was posted.
  public var orderId: String
  /// The authenticated customer who posted it.
  public var customer: String
  /// The app of the order.
  public var bundleId: String
  /// A signed transaction (JWS) of StoreKit.
  public var signedTransaction: String
  /// When it was posted, UTC milliseconds.
  public var submittedAt: Int64

  /// Makes a proof.
  public init(
    id: String, orderId: String, customer: String, bundleId: String, signedTransaction: String,
    submittedAt: Int64
  ) {
    self.id = id
    self.orderId = orderId
    self.customer = customer
    self.bundleId = bundleId
    self.signedTransaction = signedTransaction
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

/// The one outcome of a proof, published once.
public struct ProofOutcome: Codable, Sendable, Equatable {
  /// Which proof.
  public var proofId: String
  /// The order to which it was posted.
  public var orderId: String
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
    proofId: String, orderId: String, customer: String, outcome: Outcome, reason: String? = nil,
    detail: String? = nil, lineage: String? = nil, revision: Int64? = nil,
    transactionId: String? = nil, productId: String? = nil, quantity: Int64? = nil,
    appAccountToken: String? = nil, revocationDate: Int64? = nil, decidedAt: Int64
  ) {
    self.proofId = proofId
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
