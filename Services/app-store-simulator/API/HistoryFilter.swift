import AppStore
import Catalog
import Cryptography
import HTTPServer

/// The query of a transaction history: which transactions, in which order, from where on.
struct HistoryFilter: Sendable {
  private let start: Int64?
  private let end: Int64?
  private let products: [String]
  private let types: [String]
  private let groups: [String]
  private let ownership: String?
  private let isRevoked: Bool?
  private let isDescending: Bool
  /// The query without its revision: a revision is good for the same query only.
  private let fingerprint: String
  private let revision: UInt64?

  private static let productTypes = [
    "AUTO_RENEWABLE": "Auto-Renewable Subscription",
    "NON_RENEWABLE": "Non-Renewing Subscription",
    "CONSUMABLE": "Consumable", "NON_CONSUMABLE": "Non-Consumable",
  ]

  init(_ request: Request) throws(APIRefusal) {
    let query = request.query
    start = try Self.date(query["startDate"], or: .invalidStartDate)
    end = try Self.date(query["endDate"], or: .invalidEndDate)
    if let start, let end, start >= end { throw APIRefusal(.startDateAfterEndDate) }
    products = query.all("productId")
    guard products.allSatisfy({ !$0.isEmpty }) else { throw APIRefusal(.invalidProductId) }
    var types: [String] = []
    for word in query.all("productType") {
      guard let type = Self.productTypes[word] else { throw APIRefusal(.invalidProductType) }
      types.append(type)
    }
    self.types = types
    groups = query.all("subscriptionGroupIdentifier")
    guard groups.allSatisfy({ !$0.isEmpty }) else {
      throw APIRefusal(.invalidSubscriptionGroupIdentifier)
    }
    ownership = query["inAppOwnershipType"]
    guard ownership.map({ ["PURCHASED", "FAMILY_SHARED"].contains($0) }) ?? true else {
      throw APIRefusal(.invalidInAppOwnershipType)
    }
    isRevoked = try Self.truth(query["revoked"], or: .invalidRevoked)
    guard try Self.truth(query["excludeRevoked"], or: .invalidExcludeRevoked) != true else {
      // Deprecated; the present library no longer sends it.
      throw APIRefusal(.invalidExcludeRevoked)
    }
    switch query["sort"] {
    case nil, "ASCENDING": isDescending = false
    case "DESCENDING": isDescending = true
    default: throw APIRefusal(.invalidSort)
    }
    let kept = query.items.filter { $0.name != "revision" }.map { "\($0.name)=\($0.value)" }
    fingerprint = String(SHA256.hex(kept.sorted().joined(separator: "&")).prefix(12))
    revision = try Self.change(query["revision"], fingerprint)
  }

  /// The page: its transactions, its revision, and whether more follow.
  func page(of all: [Charge], in ledger: Ledger) -> (charges: [Charge], String, hasMore: Bool) {
    var fitting = all.filter { fits($0, ledger) }
    if isDescending { fitting.reverse() }
    if let revision {
      fitting = fitting.filter { isDescending ? $0.change < revision : $0.change > revision }
    }
    let page = Array(fitting.prefix(StoreAPI.pageSize))
    let last = page.last?.change ?? revision ?? 0
    return (page, Self.revision(last, fingerprint), fitting.count > page.count)
  }

  private func fits(_ charge: Charge, _ ledger: Ledger) -> Bool {
    let payload = ledger.payload(of: charge)
    return start.map { charge.purchaseDate >= $0 } ?? true
      && end.map { charge.purchaseDate < $0 } ?? true
      && (products.isEmpty || products.contains(charge.productId))
      && (types.isEmpty || types.contains(payload.type?.rawValue ?? ""))
      && (groups.isEmpty || groups.contains(payload.subscriptionGroupIdentifier ?? ""))
      && (ownership.map { $0 == charge.ownership.rawValue } ?? true)
      && (isRevoked.map { $0 == (charge.revocation != nil) } ?? true)
  }

  private static func date(
    _ text: String?, or code: APIErrorCode
  ) throws(APIRefusal) -> Int64? {
    guard let text else { return nil }
    guard let date = Int64(text), date >= 0 else { throw APIRefusal(code) }
    return date
  }

  private static func truth(
    _ text: String?, or code: APIErrorCode
  ) throws(APIRefusal) -> Bool? {
    // Apple's library for Python writes them with a capital.
    guard let text = text?.lowercased() else { return nil }
    guard text == "true" || text == "false" else { throw APIRefusal(code) }
    return text == "true"
  }

  /// The text of a place in the history of changes.
  static func revision(_ change: UInt64, _ fingerprint: String) -> String {
    Base64URL.encode(Array("\(change)_\(fingerprint)".utf8))
  }

  /// The place that a revision names.
  static func change(
    _ revision: String?, _ fingerprint: String
  ) throws(APIRefusal) -> UInt64? {
    guard let revision, !revision.isEmpty else { return nil }
    guard let bytes = Base64URL.decode(revision),
      case let parts = String(decoding: bytes, as: UTF8.self).split(separator: "_"),
      parts.count == 2, let change = UInt64(parts[0]), parts[1] == fingerprint
    else { throw APIRefusal(.invalidRequestRevision) }
    return change
  }
}
