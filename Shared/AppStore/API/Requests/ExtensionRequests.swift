/// How far renewal dates are moved, and why.
public struct RenewalExtension: Sendable, Equatable {
  /// Days, 1 to 90.
  public var days: Int32
  /// Why.
  public var reason: ExtensionReason
  /// The caller's own id of this extension, 1 to 128 characters: the same one extends once.
  public var requestIdentifier: String

  /// Describes an extension.
  public init(days: Int32, reason: ExtensionReason, requestIdentifier: String) {
    self.days = days
    self.reason = reason
    self.requestIdentifier = requestIdentifier
  }

  func check() throws(APIError) {
    guard (1...90).contains(days) else {
      throw RequestParts.bad("extendByDays", "extendByDays must be 1 to 90")
    }
    guard (1...128).contains(requestIdentifier.count) else {
      throw RequestParts.bad("requestIdentifier", "requestIdentifier must have 1 to 128 characters")
    }
  }
}

/// Why renewal dates are moved.
public struct ExtensionReason: OpenVocabulary {
  /// The value as sent.
  public let rawValue: Int32

  /// Wraps a value, known or not.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// `0`.
  public static let undeclared = ExtensionReason(rawValue: 0)
  /// `1`.
  public static let customerSatisfaction = ExtensionReason(rawValue: 1)
  /// `2`.
  public static let other = ExtensionReason(rawValue: 2)
  /// 3: a service issue or outage.
  public static let serviceIssue = ExtensionReason(rawValue: 3)
}

private struct ExtensionBody: Encodable {
  let extendByDays: Int32
  let extendReasonCode: ExtensionReason
  let requestIdentifier: String
  var productId: String?
  var storefrontCountryCodes: [String]?

  init(_ plan: RenewalExtension) {
    extendByDays = plan.days
    extendReasonCode = plan.reason
    requestIdentifier = plan.requestIdentifier
  }
}

extension APIRequest where Answer == ExtensionAnswer {
  /// Extend a Subscription Renewal Date; takes an `originalTransactionId` only.
  public static func extendRenewal(
    _ originalTransactionId: String, _ plan: RenewalExtension
  ) throws(APIError) -> Self {
    let id = try RequestParts.segment(originalTransactionId, "originalTransactionId")
    try plan.check()
    return APIRequest(
      .extendRenewal, "PUT", "/inApps/v1/subscriptions/extend/\(id)",
      body: try RequestParts.json(ExtensionBody(plan)))
  }
}

extension APIRequest where Answer == MassExtensionAnswer {
  /// Extend Renewal Dates of all active subscribers of a product.
  ///
  /// - Parameter storefronts: Three-letter codes; nil for all. An empty list is refused.
  public static func massExtension(
    of productId: String, in storefronts: [String]? = nil, _ plan: RenewalExtension
  ) throws(APIError) -> Self {
    try plan.check()
    guard !productId.isEmpty else { throw RequestParts.bad("productId", "productId is empty") }
    guard storefronts?.isEmpty != true else {
      throw RequestParts.bad(
        "storefrontCountryCodes", "name at least one storefront, or leave the list out for all")
    }
    var body = ExtensionBody(plan)
    body.productId = productId
    body.storefrontCountryCodes = storefronts
    return APIRequest(
      .massExtension, "POST", "/inApps/v1/subscriptions/extend/mass",
      body: try RequestParts.json(body))
  }
}

extension APIRequest where Answer == MassExtensionStatusAnswer {
  /// How far a mass extension is.
  public static func massExtensionStatus(
    of productId: String, requestIdentifier: String
  ) throws(APIError) -> Self {
    let product = try RequestParts.segment(productId, "productId")
    let request = try RequestParts.segment(requestIdentifier, "requestIdentifier")
    return APIRequest(
      .massExtensionStatus, "GET", "/inApps/v1/subscriptions/extend/mass/\(product)/\(request)")
  }
}
