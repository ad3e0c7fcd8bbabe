/// Answer of Extend a Subscription Renewal Date.
public struct ExtensionAnswer: Payload, Equatable {
  /// The lineage.
  public var originalTransactionId: String?
  /// The extended period.
  public var webOrderLineItemId: String?
  /// Whether it was extended.
  public var success: Bool
  /// The new renewal date, UNIX milliseconds.
  public var effectiveDate: Int64?

  /// Makes an answer, to be filled in.
  public init(success: Bool) { self.success = success }

  /// Reads the answer; throws if it does not say whether it was extended.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    originalTransactionId = try fields.string("originalTransactionId")
    webOrderLineItemId = try fields.string("webOrderLineItemId")
    success = try fields.needed("success", fields.bool)
    effectiveDate = try fields.milliseconds("effectiveDate")
  }
}

/// Answer of a mass extension: it was accepted, not yet done.
public struct MassExtensionAnswer: Payload, Equatable {
  /// The caller's own id of it.
  public var requestIdentifier: String

  /// Makes an answer.
  public init(requestIdentifier: String) { self.requestIdentifier = requestIdentifier }

  /// Reads the answer; throws if the id is missing.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    requestIdentifier = try fields.needed("requestIdentifier", fields.string)
  }
}

/// How far a mass extension is.
public struct MassExtensionStatusAnswer: Payload, Equatable {
  /// The caller's own id of it.
  public var requestIdentifier: String?
  /// Whether it is done; the following fields come only then.
  public var complete: Bool
  /// When it was done, UNIX milliseconds.
  public var completeDate: Int64?
  /// Extended subscriptions.
  public var succeededCount: Int64?
  /// Subscriptions not extended.
  public var failedCount: Int64?

  /// Makes an answer, to be filled in.
  public init(complete: Bool) { self.complete = complete }

  /// Reads the answer; throws if it does not say whether it is done.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    requestIdentifier = try fields.string("requestIdentifier")
    complete = try fields.needed("complete", fields.bool)
    completeDate = try fields.milliseconds("completeDate")
    succeededCount = try fields.int64("succeededCount")
    failedCount = try fields.int64("failedCount")
  }
}
