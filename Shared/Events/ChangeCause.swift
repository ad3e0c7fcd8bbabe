public import JSON

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

extension ChangeCause: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      kind: try fields.text("kind"), lineage: try fields.optionalText("lineage"),
      revision: try fields.optionalNumber("revision"),
      transactionId: try fields.optionalText("transactionId"),
      isImport: try fields.optionalBool("isImport"), author: try fields.optionalText("author"),
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
