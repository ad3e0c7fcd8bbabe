public import JSON

/// What is known of a purchase whose refund was asked for: verify-service sends it to Apple, once for
/// each request and only where the customer consented.
public struct ConsumptionReported: Codable, Sendable, Equatable {
  /// Whose purchase it is.
  public var customer: String
  /// Grows by one with each event of the customer.
  public var version: Int64
  /// The lineage of the purchase.
  public var lineage: String
  /// The transaction whose refund was asked for.
  public var transactionId: String
  /// Apple's environment.
  public var environment: String
  /// The app.
  public var bundleId: String
  /// Which request: the SHA-256 of Apple's notification, lower-case hex.
  public var request: String
  /// Whether the customer agreed that Apple is told; without it nothing may be sent.
  public var customerConsented: Bool
  /// Apple's word, such as `DELIVERED`.
  public var deliveryStatus: String
  /// The share that was used, in milliunits of percent (50000 is 50 %); nil where it says nothing,
  /// as for auto-renewable subscriptions.
  public var consumptionPercentage: Int64?
  /// Whether a sample was offered before the purchase.
  public var sampleContentProvided: Bool
  /// `DECLINE`, `GRANT_FULL` or `GRANT_PRORATED`; nil for no preference.
  public var refundPreference: String?
  /// When the request was recorded, UTC milliseconds; Apple waits 12 hours for the answer.
  public var requestedAt: Int64

  /// Makes the event; `consumptionPercentage` and `refundPreference` are set afterwards.
  public init(
    customer: String, version: Int64, lineage: String, transactionId: String, environment: String,
    bundleId: String, request: String, customerConsented: Bool, deliveryStatus: String,
    sampleContentProvided: Bool, requestedAt: Int64
  ) {
    self.customer = customer
    self.version = version
    self.lineage = lineage
    self.transactionId = transactionId
    self.environment = environment
    self.bundleId = bundleId
    self.request = request
    self.customerConsented = customerConsented
    self.deliveryStatus = deliveryStatus
    self.sampleContentProvided = sampleContentProvided
    self.requestedAt = requestedAt
  }
}

extension ConsumptionReported: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      customer: try fields.text("customer"), version: try fields.number("version"),
      lineage: try fields.text("lineage"), transactionId: try fields.text("transactionId"),
      environment: try fields.text("environment"), bundleId: try fields.text("bundleId"),
      request: try fields.text("request"), customerConsented: try fields.bool("customerConsented"),
      deliveryStatus: try fields.text("deliveryStatus"),
      sampleContentProvided: try fields.bool("sampleContentProvided"),
      requestedAt: try fields.number("requestedAt"))
    consumptionPercentage = try fields.optionalNumber("consumptionPercentage")
    refundPreference = try fields.optionalText("refundPreference")
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("bundleId", bundleId)
    json.number("consumptionPercentage", consumptionPercentage)
    json.text("customer", customer)
    json.bool("customerConsented", customerConsented)
    json.text("deliveryStatus", deliveryStatus)
    json.text("environment", environment)
    json.text("lineage", lineage)
    json.text("refundPreference", refundPreference)
    json.text("request", request)
    json.number("requestedAt", requestedAt)
    json.bool("sampleContentProvided", sampleContentProvided)
    json.text("transactionId", transactionId)
    json.number("version", version)
  }
}
