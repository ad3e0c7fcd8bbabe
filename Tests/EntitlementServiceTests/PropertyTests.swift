import Catalog
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

/// A made-up life of some customers: what the ledger and order-service publish, line by line.
///
/// Within a line the order is Kafka's; between lines there is none.
private struct Life {
  enum Step {
    case state(LineageState)
    case merge(String, into: String)
  }

  var lines: [String: [Step]] = [:]
  private var random: SeededGenerator
  private var revisions: [String: Int64] = [:]

  static let customers = ["anna", "ben", "cleo", "guest-1", "guest-2"]

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed)
    for number in 1...8 { addLineage("\(number)") }
    lines["customers"] = [
      .merge("guest-1", into: "anna"), .merge("guest-2", into: "ben"),
    ]
  }

  private mutating func addLineage(_ original: String) {
    var owner = Self.customers.randomElement(using: &random) ?? "anna"
    var transactions = [first(original)]
    tell(original, transactions, owner, "proof")
    for step in 1...Int.random(in: 2...6, using: &random) {
      switch Int.random(in: 0..<5, using: &random) {
      case 0 where transactions[0].type == "Auto-Renewable Subscription":
        let start = Int64(step) * 30
        transactions.append(monthly("\(original)-\(step)", from: start, to: start + 30))
        tell(original, transactions, owner, "notification")
      case 1:
        transactions[0].revocationDate = day(Int64(step))
        tell(original, transactions, owner, "notification")
      case 2:
        transactions[0].revocationDate = nil
        tell(original, transactions, owner, "notification")
      case 3:
        let next = Self.customers.randomElement(using: &random) ?? "anna"
        guard next != owner else { continue }
        tell(original, transactions, next, "transfer", leaving: owner)
        owner = next
      default:
        tell(original, transactions, owner, "reconcile")
      }
    }
    // The ledger obeys the merges too.
    for (old, new) in [("guest-1", "anna"), ("guest-2", "ben")] where owner == old {
      tell(original, transactions, new, "merge", leaving: old)
      owner = new
    }
  }

  private mutating func first(_ id: String) -> LineageTransaction {
    switch Int.random(in: 0..<4, using: &random) {
    case 0: monthly(id, from: 0, to: 30, reason: "PURCHASE")
    case 1: transaction(id, "themes.all", "Non-Consumable", on: 0)
    case 2: transaction(id, "season.pass", "Non-Renewing Subscription", on: 0)
    default: transaction(id, "coins.100", "Consumable", on: 0)
    }
  }

  private mutating func tell(
    _ original: String, _ transactions: [LineageTransaction], _ owner: String, _ cause: String,
    leaving: String? = nil
  ) {
    let revision = revisions[original, default: 0] + 1
    revisions[original] = revision
    func state(_ customer: String, _ holding: Holding) -> Step {
      .state(
        lineage(original, transactions, revision: revision) {
          $0.customer = customer
          $0.holding = holding
          $0.cause = LineageCause(kind: cause)
          $0.decidedAt = day(1)
        })
    }
    lines[owner, default: []].append(state(owner, .held))
    if let leaving { lines[leaving, default: []].append(state(leaving, .left)) }
  }

  /// The steps in one of the possible orders, each perhaps read twice.
  func order(seed: UInt64, repeating: Bool) -> [Step] {
    var random = SeededGenerator(seed: seed)
    var rest = lines
    var steps: [Step] = []
    while let key = rest.keys.sorted().filter({ rest[$0]?.isEmpty == false })
      .randomElement(using: &random)
    {
      guard let step = rest[key]?.removeFirst() else { break }
      steps.append(step)
      // Kafka repeats the end of a line, never its middle alone.
      if repeating && Int.random(in: 0..<3, using: &random) == 0 { steps.append(step) }
    }
    return steps
  }
}

@Suite("What must hold whatever comes") struct PropertyTests {
  private func play(_ step: Life.Step, _ service: TestService) async throws {
    switch step {
    case .state(let state): try await service.read(state)
    case .merge(let old, let new): try await service.merge(old, into: new, at: day(1))
    }
  }

  /// Rights and balances of everyone, in a form that can be compared.
  private func canonical(_ service: TestService) async throws -> [String] {
    try await service.store.readers.read { reader in
      try reader.query(
        """
        SELECT customer, environment, name FROM entitlements WHERE is_active = 1
        UNION ALL SELECT customer, environment, unit || '=' || amount FROM balances
          WHERE amount <> 0
        UNION ALL SELECT customer, lineage, revision || '/' || is_held FROM purchases
          WHERE is_held = 1
        ORDER BY 1, 2, 3
        """
      ) { "\($0.text(0)) \($0.text(1)) \($0.text(2))" }
    }
  }

  /// What a subscriber knows who folds the events by version.
  private func folded(_ service: TestService) async throws -> [String: CustomerState] {
    var known: [String: CustomerState] = [:]
    for event in try await service.published() {
      var state =
        known[event.key]
        ?? CustomerState(
          customer: event.key, version: 0, entitlements: [], balances: [], updatedAt: 0)
      let value = event.value ?? []
      switch event.type {
      case "entitlement.activated", "entitlement.updated", "entitlement.deactivated":
        let change = try EventJSON.decode(EntitlementChanged.self, from: value)
        #expect(change.version == state.version + 1, "without a gap")
        state.version = change.version
        state.entitlements.removeAll {
          $0.name == change.entitlement.name && $0.environment == change.entitlement.environment
        }
        if change.entitlement.isActive { state.entitlements.append(change.entitlement) }
      case "balance.changed":
        let change = try EventJSON.decode(BalanceChanged.self, from: value)
        #expect(change.version == state.version + 1, "without a gap")
        state.version = change.version
        state.balances.removeAll {
          $0.unit == change.balance.unit && $0.environment == change.balance.environment
        }
        state.balances.append(change.balance)
      default:
        state.version += 1
      }
      known[event.key] = state
    }
    return known
  }

  private func checkSubscriber(_ service: TestService) async throws {
    let folded = try await folded(service)
    var newest: [String: CustomerState] = [:]
    for record in try await service.published(.entitlementState) {
      newest[record.key] = try record.value.map {
        try EventJSON.decode(CustomerState.self, from: $0)
      }
    }
    #expect(Set(folded.keys) == Set(newest.keys))
    for (customer, state) in newest {
      let other = try #require(folded[customer])
      #expect(state.version == other.version, "\(customer)")
      #expect(
        state.entitlements
          == other.entitlements.sorted { ($0.environment, $0.name) < ($1.environment, $1.name) })
      #expect(
        state.balances.filter { $0.amount != 0 }
          == other.balances.filter { $0.amount != 0 }
          .sorted { ($0.environment, $0.unit) < ($1.environment, $1.unit) })
    }
  }

  @Test(arguments: 0..<12)
  func `duplicates, other orders between customers and restarts change nothing`(seed: Int)
    async throws
  {
    let life = Life(seed: UInt64(seed))
    let plain = try TestService(at: day(1))
    for step in life.order(seed: 1, repeating: false) { try await play(step, plain) }
    let expected = try await canonical(plain)
    try await checkSubscriber(plain)
    #expect(try await plain.wrongBalances() == [])

    var other = try TestService(at: day(1))
    for (number, step) in life.order(seed: UInt64(seed) + 100, repeating: true).enumerated() {
      try await play(step, other)
      if number % 9 == 8 { other = try await other.reopened() }
    }
    #expect(try await canonical(other) == expected)
    try await checkSubscriber(other)
    #expect(try await other.wrongBalances() == [])
    try await expectSameAfterRebuild(plain)
    try await expectSameAfterRebuild(other)
  }

  @Test(arguments: [("floor", 0..<6), ("debt", 6..<12)])
  func `under floor no balance is below zero, and under both it is the sum of its entries`(
    policy: String, seeds: Range<Int>
  ) async throws {
    for seed in seeds {
      var random = SeededGenerator(seed: UInt64(seed))
      let service = try TestService(policies: #"{"refundBalance": "\#(policy)"}"#)
      var lots: [LineageState] = []
      for step in 0..<60 {
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
          let product = Bool.random(using: &random) ? "coins.100" : "boosts.10"
          let bought = lineage(
            "\(step)", [transaction("\(step)", product, "Consumable", on: 0)]
          ) { $0.transactions[0].purchaseDate = service.clock.now() }
          lots.append(bought)
          try await service.read(bought)
        case 1 where !lots.isEmpty:
          let index = lots.indices.randomElement(using: &random) ?? 0
          lots[index].revision += 1
          lots[index].transactions[0].revocationDate =
            lots[index].transactions[0].revocationDate == nil ? service.clock.now() : nil
          lots[index].transactions[0].revocationType =
            Bool.random(using: &random) ? "REFUND_FULL" : "REFUND_PRORATED"
          lots[index].transactions[0].revocationPercentage = Int64.random(
            in: 0...100_000, using: &random)
          try await service.read(lots[index])
        case 2:
          service.clock.advance(by: Int64.random(in: 0...10, using: &random) * 86_400_000)
          try await service.fire()
        default:
          let unit = Bool.random(using: &random) ? "coins" : "boosts"
          let amount = Int.random(in: 1...120, using: &random)
          let answer = try await service.request(
            .post, "/v1/customers/alice/spends",
            #"{"units": {"\#(unit)": \#(amount)}, "environment": "Sandbox"}"#, key: "\(step)")
          #expect([201, 422].contains(answer.status))
        }
        #expect(try await service.wrongBalances() == [])
        if policy == "floor" {
          #expect(try await service.state("alice").balances.values.allSatisfy { $0 >= 0 })
        }
      }
      try await checkSubscriber(service)
      try await expectSameAfterRebuild(service)
    }
  }

  @Test func `a fresh store that reads the same topics comes to the same`() async throws {
    let life = Life(seed: 77)
    let steps = life.order(seed: 3, repeating: false)
    let old = try TestService(at: day(1))
    for step in steps { try await play(step, old) }
    let fresh = try TestService(at: day(1))
    for step in life.order(seed: 4, repeating: false) { try await play(step, fresh) }
    #expect(try await canonical(fresh) == canonical(old))
  }
}
