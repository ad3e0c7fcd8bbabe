import Events
import Pipeline
import SQLite

/// Tells the events of one customer, and of those who ended in it, to the tables of a new store.
///
/// Each event says what was decided; the tables follow by the same functions that wrote them first.
struct StoryFold {
  struct Event {
    let customer: String
    let version: Int64
    let type: EventType
    let at: Int64
    let body: [UInt8]
  }

  private struct Member {
    var version: Int64 = 0
    var toldAt: Int64 = 0
    /// All that was told of one who was erased goes with it.
    var erasedAt: Int64?
  }

  let change: Change
  private var members: [String: Member] = [:]
  private var spends: [String: Spend] = [:]

  init(change: Change) { self.change = change }

  private var transaction: Transaction { change.transaction }

  mutating func tell(_ event: Event) throws {
    members[event.customer, default: Member()].version = event.version
    members[event.customer, default: Member()].toldAt = event.at
    let change = change.at(event.at)
    switch event.type {
    case .entitlementActivated, .entitlementUpdated, .entitlementDeactivated:
      let told = try EventJSON.decode(EntitlementChanged.self, from: event.body)
      try EntitlementRows.save(transaction, event.customer, told.entitlement)
    case .balanceChanged:
      let told = try EventJSON.decode(BalanceChanged.self, from: event.body)
      // A balance that moved as a whole moves with the merge.
      if let entry = told.entry { try book(entry, told, event, change) }
    case .grantCreated, .grantRemoved:
      let told = try EventJSON.decode(GrantChanged.self, from: event.body)
      try Grants.save(transaction, event.customer, told.grant)
    case .consumptionReported:
      let told = try EventJSON.decode(ConsumptionReported.self, from: event.body)
      try AnswerRefundRequest.note(
        transaction, event.customer, told.transactionId, request: told.request,
        at: told.requestedAt)
    case .entitlementsMerged:
      try merge(
        event.customer, into: EventJSON.decode(EntitlementsMerged.self, from: event.body).into,
        change)
    case .entitlementsErased:
      try erase(event, change)
    default: break
    }
  }

  private mutating func book(
    _ entry: BalanceEntry, _ told: BalanceChanged, _ event: Event, _ change: Change
  ) throws {
    let account = Account(
      customer: event.customer, environment: told.balance.environment, unit: told.balance.unit)
    if entry.kind == "expiry" { try Lots.remove(endedBy: entry, account, transaction) }
    let isPeoples = entry.spendId != nil
    _ = try BalanceBook.post(
      change, account, entry, author: isPeoples ? told.cause.author : nil,
      reason: isPeoples ? told.cause.reason : nil)
    guard let id = entry.spendId else { return }
    let spend = Spend(
      id: id, adding: entry, to: spends[id], unit: account.unit, environment: account.environment,
      balance: told.balance.amount, cause: told.cause, at: event.at)
    spends[id] = spend
    try spend.replace(transaction, event.customer)
  }

  private mutating func merge(_ customer: String, into: String, _ change: Change) throws {
    try MergeCustomer.moveBalances(transaction, from: customer, to: into)
    try MergeCustomer.moveRest(transaction, from: customer, to: into)
    try write(customer, change)
    try MergeCustomer.lead(transaction, customer, to: into)
  }

  private mutating func erase(_ event: Event, _ change: Change) throws {
    try EraseCustomer.forget(transaction, event.customer)
    members[event.customer]?.erasedAt = event.at
    try write(event.customer, change)
  }

  private func write(_ customer: String, _ change: Change) throws {
    guard let member = members[customer] else { return }
    var row = try CustomerRow.exactly(transaction, customer)
    row.erasedAt = member.erasedAt
    try row.save(change, version: member.version, evaluatedAt: 0, dueAt: nil)
  }

  /// Writes the rows of the customers, and cuts the stories that an erasure ended.
  mutating func finish() throws {
    for (customer, member) in members {
      try write(customer, change.at(member.toldAt))
      guard member.erasedAt != nil else { continue }
      for table in ["timeline", "entitlements"] {
        try transaction.run("DELETE FROM \(table) WHERE customer = ?", customer)
      }
    }
  }
}

extension Spend {
  /// A spend as its entries tell it: all have one cause, and each brings a unit.
  init(
    id: String, adding entry: BalanceEntry, to known: Spend?, unit: String, environment: String,
    balance: Int64, cause: ChangeCause, at time: Int64
  ) {
    let isSpend = entry.kind == Kind.spend.entry
    var units = known?.units ?? [:]
    units[unit] = isSpend ? -entry.amount : entry.amount
    self.init(
      id: id, kind: (isSpend ? Kind.spend : Kind.credit).rawValue, environment: environment,
      units: units, expiresAt: entry.expiresAt, reason: cause.reason, author: cause.author ?? "")
    balances = known?.balances ?? [:]
    balances?[unit] = balance
    bookedAt = time
  }

  func replace(_ transaction: Transaction, _ customer: String) throws {
    try transaction.run(
      "INSERT OR REPLACE INTO spends (id, customer, body) VALUES (?, ?, ?)", id, customer,
      try EventJSON.encode(self))
  }
}
