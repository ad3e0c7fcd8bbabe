/// Which transactions of a customer's history are asked for.
///
/// Values of one list are alternatives; different fields must all hold.
public struct HistoryQuery: Sendable, Equatable {
  /// Bought at this time or later, UNIX milliseconds.
  public var startDate: Int64?
  /// Bought before this time, UNIX milliseconds.
  public var endDate: Int64?
  /// Products; empty for all.
  public var productIds: [String] = []
  /// Kinds of product; empty for all.
  public var productTypes: [HistoryProductType] = []
  /// Order by the date of the last change; Apple's default is ascending.
  public var sort: HistoryOrder?
  /// Groups; empty for all.
  public var subscriptionGroupIdentifiers: [String] = []
  /// Own or shared; nil for both.
  public var ownership: OwnershipType?
  /// True for revoked ones only, false for those that are not; nil for both.
  public var isRevoked: Bool?

  /// Everything.
  public init() {}

  func parameters(_ revision: String?) -> [(name: String, value: String)] {
    var parameters: [(name: String, value: String)] = []
    func add(_ name: String, _ value: String?) {
      if let value { parameters.append((name, value)) }
    }
    add("revision", revision)
    add("startDate", startDate.map { String($0) })
    add("endDate", endDate.map { String($0) })
    for product in productIds { add("productId", product) }
    for type in productTypes { add("productType", type.rawValue) }
    add("sort", sort?.rawValue)
    for group in subscriptionGroupIdentifiers { add("subscriptionGroupIdentifier", group) }
    add("inAppOwnershipType", ownership?.rawValue)
    add("revoked", isRevoked.map { $0 ? "true" : "false" })
    return parameters
  }
}

/// Kind of product, as a query writes it.
public struct HistoryProductType: OpenVocabulary {
  /// The value as sent.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `AUTO_RENEWABLE`.
  public static let autoRenewable = HistoryProductType(rawValue: "AUTO_RENEWABLE")
  /// `NON_RENEWABLE`.
  public static let nonRenewable = HistoryProductType(rawValue: "NON_RENEWABLE")
  /// `CONSUMABLE`.
  public static let consumable = HistoryProductType(rawValue: "CONSUMABLE")
  /// `NON_CONSUMABLE`.
  public static let nonConsumable = HistoryProductType(rawValue: "NON_CONSUMABLE")
}

/// Order of a history.
public enum HistoryOrder: String, Sendable {
  /// The least recently changed first: only this order allows to go on later from a revision.
  case ascending = "ASCENDING"
  /// The most recently changed first.
  case descending = "DESCENDING"
}
