import Catalog
import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `/v1/customers/{customer}/spends` and `/credits`: what own backends take from balances and give.
struct SpendRoutes: Sendable {
  let store: Store
  let recompute: Recompute
  let metrics: SpendMetrics

  /// What the caller posts: amounts by unit.
  struct Input: Decodable, Sendable {
    let units: [String: Int64]
    let environment: String?
    /// Of credits: when what is left of them ends.
    let expiresAt: Int64?
    let reason: String?
    let author: String?
  }

  func add(to router: inout Router) {
    // A customer's own token may spend, where tokens may at all; giving is for backends.
    router.on(
      .post, "/v1/customers/{customer}/spends", scope: .entitlementsWrite, tokens: .ownCustomer
    ) { request in try await move(request, .spend) }
    router.on(.post, "/v1/customers/{customer}/credits", scope: .entitlementsWrite) { request in
      try await move(request, .credit)
    }
  }

  private func move(_ request: Request, _ kind: Spend.Kind) async throws -> Response {
    let asked = try request.customer(provisionalToo: false)
    let input = try request.json(Input.self)
    let key = try request.requiredIdempotencyKey()
    try Self.check(input.units)
    let reason = try input.reason.map { text throws(Problem) in try checkedText(text, "reason") }
    var wanted = Spend(
      id: WriteID.make(kind.rawValue, asked, key), kind: kind.rawValue,
      environment: try checkedEnvironment(input.environment ?? "Production"),
      units: input.units, expiresAt: kind == .credit ? input.expiresAt : nil, reason: reason,
      author: try request.author(input.author))
    let (recompute, metrics) = (recompute, metrics)
    let (spend, isNew) = try await store.change { [wanted] change in
      let row = try CustomerRow.writable(change.transaction, asked)
      let ids = try WriteID.all(kind.rawValue, asked, row, key, change.transaction)
      if let known = try ids.firstNonNil({ try Spend.load(change.transaction, $0) }) {
        guard known.isSame(as: wanted) else { throw Problem.idempotencyKeyReused }
        return (known, false)
      }
      var spend = wanted
      let entries = try spend.book(change, row.customer)
      try spend.save(change.transaction, row.customer)
      try recompute.run(
        row, ChangeCause(kind: kind.cause, author: spend.author, reason: spend.reason),
        entries.map(News.entry), change)
      change.count(kind == .spend ? metrics.spends : metrics.credits)
      return (spend, true)
    }
    wanted = spend
    return .json(wanted, status: isNew ? 201 : 200)
  }

  private static func check(_ units: [String: Int64]) throws(Problem) {
    guard (1...32).contains(units.count),
      units.allSatisfy({ Name.isValid($0.key) && (1...Credit.largestAmount).contains($0.value) })
    else {
      throw Problem(
        status: 422, type: "invalid-units", title: "Invalid units",
        detail: "units must name 1 to 32 units, each with a whole amount from 1 to "
          + "\(Credit.largestAmount): {\"coins\": 5}.",
        members: ["path": "$.units"])
    }
  }
}

/// Counts spends and credits.
struct SpendMetrics: Sendable {
  let spends: Counter
  let credits: Counter

  init(_ metrics: Metrics) {
    spends = metrics.counter("balance_spends_total", "Spends that were booked.")
    credits = metrics.counter("balance_credits_total", "Credits that own backends gave.")
  }
}

/// Several units taken or given at once, or none of them.
struct Spend: Codable, Equatable, Sendable {
  enum Kind: String, Sendable {
    case spend, credit

    /// The word of the entries.
    var entry: String { self == .spend ? "spend" : "grant" }
    /// The word of the cause.
    var cause: String { entry }
  }

  /// Made of customer and idempotency key: the same key is the same spend.
  let id: String
  let kind: String
  let environment: String
  let units: [String: Int64]
  let expiresAt: Int64?
  let reason: String?
  let author: String
  /// The balances of the units after it.
  var balances: [String: Int64]?
  /// When it was booked, UTC milliseconds.
  var bookedAt: Int64?

  init(
    id: String, kind: String, environment: String, units: [String: Int64], expiresAt: Int64?,
    reason: String?, author: String
  ) {
    self.id = id
    self.kind = kind
    self.environment = environment
    self.units = units
    self.expiresAt = expiresAt
    self.reason = reason
    self.author = author
  }

  /// Whether a repeated request asks for the same.
  func isSame(as other: Spend) -> Bool {
    kind == other.kind && environment == other.environment && units == other.units
      && expiresAt == other.expiresAt && reason == other.reason
  }

  /// Writes an entry for each unit.
  ///
  /// - Throws: `Problem` 422 `balance-short` when one of the units is not there: nothing is taken.
  mutating func book(_ change: Change, _ customer: String) throws -> [BookedEntry] {
    let isSpend = kind == Kind.spend.rawValue
    guard expiresAt.map({ $0 > change.now }) ?? true else {
      throw Problem(
        status: 422, type: "invalid-time", title: "Invalid time",
        detail: "expiresAt must lie in the future, in UTC milliseconds.")
    }
    let order = units.sorted { $0.key < $1.key }
    if isSpend { try checkCover(order, change, customer) }
    let entries = try order.map { unit, amount in
      var entry = BalanceEntry(
        id: BalanceBook.id(kind, id, unit), kind: isSpend ? Kind.spend.entry : Kind.credit.entry,
        amount: isSpend ? -amount : amount)
      entry.spendId = id
      entry.expiresAt = expiresAt
      return try BalanceBook.post(
        change, Account(customer: customer, environment: environment, unit: unit), entry,
        author: author, reason: reason)
    }
    balances = Dictionary(
      entries.map { ($0.balance.unit, $0.balance.amount) }, uniquingKeysWith: { $1 })
    bookedAt = change.now
    return entries
  }

  private func checkCover(
    _ order: [(key: String, value: Int64)], _ change: Change, _ customer: String
  ) throws {
    var short: [String: JSONValue] = [:]
    for (unit, amount) in order {
      let account = Account(customer: customer, environment: environment, unit: unit)
      let there =
        try BalanceBook.amount(change.transaction, account)
        - Lots.ended(change.transaction, account, at: change.now)
      if there < amount {
        short[unit] = ["needed": .integer(amount), "available": .integer(max(0, there))]
      }
    }
    guard short.isEmpty else {
      throw Problem(
        status: 422, type: "balance-short", title: "Not enough",
        detail: "There is not enough of \(short.keys.sorted().joined(separator: ", ")); "
          + "nothing was taken.",
        members: ["short": .object(short)])
    }
  }

  static func load(_ transaction: Transaction, _ id: String) throws -> Spend? {
    try transaction.first("SELECT body FROM spends WHERE id = ?", id) {
      try EventJSON.decode(Spend.self, from: $0.blob(0))
    }
  }

  func save(_ transaction: Transaction, _ customer: String) throws {
    try transaction.run(
      "INSERT INTO spends (id, customer, body) VALUES (?, ?, ?)", id, customer,
      try EventJSON.encode(self))
  }
}
