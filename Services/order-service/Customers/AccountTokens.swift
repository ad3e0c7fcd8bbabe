import Catalog
import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// Tokens of whole accounts, for teams that give StoreKit one token per customer.
enum AccountTokens {
  /// A customer has no more tokens for one app than this.
  static let limit = 20

  struct Token: Codable, Sendable, Equatable {
    let appAccountToken: String
    let customer: String
    let bundleId: String
    let issuedAt: Int64
  }

  static func exists(_ rows: some StoreRows, _ token: String) throws -> Bool {
    try rows.exists("SELECT 1 FROM account_tokens WHERE token = ?", token)
  }

  static func token(_ rows: some StoreRows, _ token: String) throws -> Token? {
    try rows.first(
      "SELECT token, customer, bundle_id, issued_at FROM account_tokens WHERE token = ?", token,
      map: read)
  }

  /// A customer's tokens for an app, the oldest first.
  static func all(_ rows: some StoreRows, customer: String, bundleId: String) throws -> [Token] {
    try rows.query(
      """
      SELECT token, customer, bundle_id, issued_at FROM account_tokens
      WHERE customer = ? AND bundle_id = ? ORDER BY issued_at, token
      """, customer, bundleId, map: read)
  }

  private static func read(_ row: borrowing Row) -> Token {
    Token(
      appAccountToken: row.text(0), customer: row.text(1), bundleId: row.text(2),
      issuedAt: row.int(3))
  }
}

/// Gives a customer the token of its account, or takes one that the team has given out already.
struct IssueAccountToken: Sendable {
  /// What may be asked for.
  struct Input: Decodable, Sendable {
    let bundleId: String?
    /// A token that the team uses already; a new one is made when there is none.
    let appAccountToken: String?
  }

  let store: Store
  let shop: Shop

  /// The token; asked again the same one.
  ///
  /// - Throws: `Problem` for ids and tokens that cannot be, or that are another's.
  func run(_ customer: String, _ input: Input) async throws -> AccountTokens.Token {
    try Problem.check(customer: customer)
    let app = try shop.app(input.bundleId)
    let wished = try input.appAccountToken.map { text throws(Problem) -> String in
      guard let token = UUIDs.normalized(text) else {
        throw Problem(
          status: 422, type: "invalid-token", title: "Not a UUID",
          detail: "appAccountToken is not a UUID; StoreKit takes nothing else.")
      }
      return token
    }
    let known = try await store.readers.read { reader in
      try Self.known(reader, customer, app.bundleId, wished)
    }
    if let known { return known }
    return try await store.change { change in
      let rows = change.transaction
      if let known = try Self.known(rows, customer, app.bundleId, wished) { return known }
      let owner = try CustomerStore.present(rows, customer)
      guard
        try AccountTokens.all(rows, customer: owner, bundleId: app.bundleId).count
          < AccountTokens.limit
      else { throw Problem.tokenTaken("The customer has \(AccountTokens.limit) tokens already.") }
      let token = AccountTokens.Token(
        appAccountToken: wished ?? UUIDs.version4(), customer: owner, bundleId: app.bundleId,
        issuedAt: change.now)
      try rows.run(
        "INSERT INTO account_tokens (token, customer, bundle_id, issued_at) VALUES (?, ?, ?, ?)",
        token.appAccountToken, owner, app.bundleId, change.now)
      try change.publish(
        .customers, key: owner, type: .tokenIssued, subject: token.appAccountToken, revision: 1,
        TokenIssued(
          token: token.appAccountToken, customer: owner, bundleId: app.bundleId, orderId: nil,
          issuedAt: change.now))
      return token
    }
  }

  /// The token that answers the wish without a write.
  private static func known(
    _ rows: some StoreRows, _ customer: String, _ bundleId: String, _ wished: String?
  ) throws -> AccountTokens.Token? {
    let owner = try CustomerStore.present(rows, customer)
    guard let wished else {
      return try AccountTokens.all(rows, customer: owner, bundleId: bundleId).first
    }
    guard try OrderStore.order(rows, wished) == nil else {
      throw Problem.tokenTaken("The token is the id of an order.")
    }
    guard let token = try AccountTokens.token(rows, wished) else { return nil }
    guard Customer.isSame(token.customer, owner), token.bundleId == bundleId else {
      throw Problem.tokenTaken("The token is another customer's, or of another app.")
    }
    return token
  }
}
