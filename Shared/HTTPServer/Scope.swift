/// What a caller may do.
///
/// The set is open, so that a key file may name scopes of a later version.
public struct Scope: RawRepresentable, Hashable, Sendable {
  /// The word in key files.
  public let rawValue: String

  /// Takes a word.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Submit and read orders.
  public static let orders = Scope(rawValue: "orders")
  /// Read balances, grants and timelines.
  public static let entitlementsRead = Scope(rawValue: "entitlements:read")
  /// Spend, grant and transfer.
  public static let entitlementsWrite = Scope(rawValue: "entitlements:write")
  /// Everything; implies all other scopes.
  public static let admin = Scope(rawValue: "admin")

  /// The scopes that a key may have.
  public static let all: [Scope] = [.orders, .entitlementsRead, .entitlementsWrite, .admin]
}

/// Who asks, and what it may do.
public struct Principal: Sendable, Equatable {
  /// The name in logs of whoever asks where nobody is asked for a key; no key may have it.
  public static let nobody = "anyone"

  /// The name of the key, or the subject of the token; fit for logs.
  public let name: String
  /// What it may do.
  public let scopes: Set<Scope>
  /// The one customer it may reach; nil when it may reach all.
  public let customer: String?

  /// Makes a principal.
  public init(name: String, scopes: Set<Scope>, customer: String? = nil) {
    self.name = name
    self.scopes = scopes
    self.customer = customer
  }

  /// Whether a scope is held, by name or through `admin`.
  public func holds(_ scope: Scope) -> Bool {
    scopes.contains(scope) || scopes.contains(.admin)
  }
}
