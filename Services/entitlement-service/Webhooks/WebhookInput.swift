import Catalog
import Cryptography
import Events
import HTTPServer

/// What is asked of an endpoint, checked.
struct WebhookInput: Codable, Sendable {
  let url: String
  let types: [String]?
  let bundleIds: [String]?
  let environments: [String]?
  let description: String?
  let isEnabled: Bool?
  /// A secret that the caller has already, for a new endpoint; else one is made.
  var secret: String?

  /// What an endpoint may be told: the events of `iap.entitlements`.
  static let types: [EventType] = [
    .entitlementActivated, .entitlementUpdated, .entitlementDeactivated, .balanceChanged,
    .grantCreated, .grantRemoved, .entitlementsMerged, .entitlementsErased, .consumptionReported,
  ]

  /// - Throws: `Problem` 422 `invalid-webhook`, which names the member and what it may be.
  func check(allowsPrivate: Bool, apps: Apps) throws(Problem) {
    if let fault = Self.fault(url: url, allowsPrivate: allowsPrivate) {
      throw Self.invalid("url", fault)
    }
    try Self.check(types, "types", Self.types.map(\.rawValue))
    try Self.check(bundleIds, "bundleIds", apps.all.map(\.bundleId))
    try Self.check(environments, "environments", ["Production", "Sandbox", "Xcode"])
    if let secret { try Self.check(secret: secret) }
    if let description, description.utf8.count > 200 {
      throw Self.invalid("description", "must have at most 200 bytes.")
    }
  }

  /// - Throws: `Problem` 422 `invalid-webhook`.
  static func check(secret: String) throws(Problem) {
    let bytes =
      secret.hasPrefix(WebhookSignature.prefix)
      ? Base64.decode(String(secret.dropFirst(WebhookSignature.prefix.count))) : nil
    guard let bytes, (24...64).contains(bytes.count) else {
      throw invalid(
        "secret",
        "must be \(WebhookSignature.prefix) and 24 to 64 bytes in Base64; or leave it out.")
    }
  }

  private static func check(_ words: [String]?, _ member: String, _ known: [String]) throws(Problem)
  {
    guard let words else { return }
    if let word = words.first(where: { !known.contains($0) }) {
      throw invalid(
        member, "has '\(word.prefix(80))'; it may hold \(known.sorted().joined(separator: ", ")).")
    }
    guard Set(words).count == words.count else { throw invalid(member, "names a word twice.") }
  }

  private static func invalid(_ member: String, _ fault: String) -> Problem {
    Problem(
      status: 422, type: "invalid-webhook", title: "Invalid webhook", detail: "\(member) \(fault)",
      members: ["path": .string("$.\(member)")])
  }

  /// What is wrong with an address; nil when events can be posted to it.
  static func fault(url: String, allowsPrivate: Bool) -> String? {
    let schemes = allowsPrivate ? ["https://", "http://"] : ["https://"]
    guard let scheme = schemes.first(where: { url.lowercased().hasPrefix($0) }) else {
      return "must be an https URL."
    }
    guard url.utf8.count <= 2000, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      return "must have at most 2000 bytes of visible ASCII; encode everything else."
    }
    guard !url.contains("\\") else { return "must have no backslash; some read it as a slash." }
    guard !url.contains("#") else { return "must have no fragment: nothing after # is sent." }
    let authority = url.dropFirst(scheme.count).prefix { !"/?".contains($0) }
    guard !authority.contains("@") else { return "must name no user and password." }
    guard let (host, port) = split(authority), isHost(host) else {
      return "must name a host, such as https://shop.example.com/hooks."
    }
    guard port.map({ Int($0).map((1...65535).contains) ?? false }) ?? true else {
      return "must have a port of 1 to 65535, or none."
    }
    return nil
  }

  private static func split(_ authority: Substring) -> (host: Substring, port: Substring?)? {
    // An IPv6 address stands in brackets, as it has colons of its own.
    let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
    if authority.hasPrefix("["), end == nil { return nil }
    let colon = authority[(end ?? authority.startIndex)...].firstIndex(of: ":")
    guard let colon else { return (authority, nil) }
    return (authority[..<colon], authority[authority.index(after: colon)...])
  }

  private static func isHost(_ host: Substring) -> Bool {
    if host.hasPrefix("[") {
      let address = host.dropFirst().dropLast()
      return host.hasSuffix("]") && address.contains(":")
        && address.allSatisfy { $0.isHexDigit || ":.".contains($0) }
    }
    let labels = host.split(separator: ".", omittingEmptySubsequences: false)
    return host.utf8.count <= 253
      && labels.allSatisfy { label in
        (1...63).contains(label.utf8.count) && !label.hasPrefix("-") && !label.hasSuffix("-")
          && label.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) }
      }
  }
}
