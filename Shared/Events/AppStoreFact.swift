public import JSON

/// How a signed fact reached us.
public struct FactSource: RawRepresentable, Codable, Hashable, Sendable {
  /// The word on the wire.
  public let rawValue: String

  /// Wraps a word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A notification that Apple posted to the edge; `signed` is the `signedPayload`.
  public static let notification = FactSource(rawValue: "notification")
  /// A proof that the app posted; `signed` is a signed transaction.
  public static let proof = FactSource(rawValue: "proof")
  /// A receipt that the app posted and that was verified: once whole, under its hash, and once for
  /// each lineage in it; `signed` then is JSON, what the receipt says about the lineage.
  public static let receipt = FactSource(rawValue: "receipt")
  /// A notification that was fetched from Apple's notification history.
  public static let backFill = FactSource(rawValue: "back-fill")
  /// A signed transaction or renewal info that Apple's API answered when a lineage was asked for.
  public static let reconcile = FactSource(rawValue: "reconcile")
  /// A signed transaction of before Purser, from a customer's history or a file.
  public static let historyImport = FactSource(rawValue: "import")
  /// A signed transaction that a person had fetched anew.
  public static let refresh = FactSource(rawValue: "refresh")
}

/// Signed text exactly as Apple wrote it, whose signature was proved before it was written here.
public struct AppStoreFact: Codable, Sendable, Equatable {
  /// How it came.
  public var source: FactSource
  /// The JWS as received; for receipts see `FactSource.receipt`.
  public var signed: String
  /// SHA-256 of `signed`, of a receipt's signed content for receipts; lower-case hex.
  public var hash: String
  /// The app, as proved.
  public var bundleId: String
  /// Apple's environment, as proved.
  public var environment: String
  /// The lineage that it concerns; nil for facts of no lineage, such as a TEST notification.
  public var lineage: String?
  /// Apple's `notificationUUID`, for notifications.
  public var notificationUUID: String?
  /// Apple's `notificationType`, for notifications.
  public var notificationType: String?
  /// Apple's `subtype`, for notifications.
  public var subtype: String?
  /// The proof that brought it, for proofs.
  public var proof: ProofReference?
  /// When it was received, UTC milliseconds.
  public var receivedAt: Int64

  /// Who posted the proof, and to which order.
  public struct ProofReference: Codable, Sendable, Equatable {
    /// The proof's id.
    public var id: String
    /// Which of the proof's lineages the fact is about; nil for a proof of one transaction.
    public var part: ProofPart?
    /// The order; nil for a restore.
    public var orderId: String?
    /// The authenticated customer.
    public var customer: String
    /// What was posted; nil for a signed transaction.
    ///
    /// An id alone binds nobody by itself.
    public var kind: ProofKind?

    /// Makes a reference.
    public init(
      id: String, part: ProofPart? = nil, orderId: String?, customer: String,
      kind: ProofKind? = nil
    ) {
      self.id = id
      self.part = part
      self.orderId = orderId
      self.customer = customer
      self.kind = kind
    }
  }

  /// Makes a fact.
  public init(
    source: FactSource, signed: String, hash: String, bundleId: String, environment: String,
    lineage: String?, notificationUUID: String? = nil, notificationType: String? = nil,
    subtype: String? = nil, proof: ProofReference? = nil, receivedAt: Int64
  ) {
    self.source = source
    self.signed = signed
    self.hash = hash
    self.bundleId = bundleId
    self.environment = environment
    self.lineage = lineage
    self.notificationUUID = notificationUUID
    self.notificationType = notificationType
    self.subtype = subtype
    self.proof = proof
    self.receivedAt = receivedAt
  }
}

extension AppStoreFact: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      source: FactSource(rawValue: try fields.text("source")), signed: try fields.text("signed"),
      hash: try fields.text("hash"), bundleId: try fields.text("bundleId"),
      environment: try fields.text("environment"), lineage: try fields.optionalText("lineage"),
      notificationUUID: try fields.optionalText("notificationUUID"),
      notificationType: try fields.optionalText("notificationType"),
      subtype: try fields.optionalText("subtype"),
      proof: try fields.optionalObject("proof", ProofReference.init(fields:)),
      receivedAt: try fields.number("receivedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("bundleId", bundleId)
    json.text("environment", environment)
    json.text("hash", hash)
    json.text("lineage", lineage)
    json.text("notificationType", notificationType)
    json.text("notificationUUID", notificationUUID)
    if let proof { json.object("proof", proof.write) }
    json.number("receivedAt", receivedAt)
    json.text("signed", signed)
    json.text("source", source.rawValue)
    json.text("subtype", subtype)
  }
}

extension AppStoreFact.ProofReference: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      id: try fields.text("id"), part: try fields.optionalObject("part", ProofPart.init(fields:)),
      orderId: try fields.optionalText("orderId"), customer: try fields.text("customer"),
      kind: try fields.optionalText("kind").map(ProofKind.init(rawValue:)))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("customer", customer)
    json.text("id", id)
    json.text("kind", kind?.rawValue)
    json.text("orderId", orderId)
    if let part { json.object("part", part.write) }
  }
}
