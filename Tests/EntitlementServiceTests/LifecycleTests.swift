import Catalog
import Events
import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

/// Made-up customers over months: everything that the ledger, order-service, backends and time may bring,
/// in any order between customers, late, twice, and with the process starting anew in between.
@Suite("The whole life of generated customers") struct LifecycleTests {
  @Test(arguments: 0..<3)
  func `a rebuild gives the same store, and tells and decides nothing`(seed: Int) async throws {
    var life = GeneratedLife(
      seed: UInt64(seed), customers: LifecycleSettings.customers / 3, service: try TestService())
    try await life.live()
    #expect(try await life.service.wrongBalances() == [])
    #expect(life.spends > 0 && life.refusedSpends > 0, "spends near zero: \(life.spends)")
    #expect(life.merges > 0 && life.erasures > 0 && life.restarts > 0)
    try await expectSameAfterRebuild(life.service)
  }
}

/// One such life.
private struct GeneratedLife {
  private struct Line {
    var owner: String
    var revision: Int64
    var bought: [LineageTransaction]
  }

  private(set) var service: TestService
  private(set) var spends = 0
  private(set) var refusedSpends = 0
  private(set) var merges = 0
  private(set) var erasures = 0
  private(set) var restarts = 0
  private let customers: Int
  private var random: SeededGenerator
  private var standing: [String]
  private var lines: [String: Line] = [:]
  private var ids: [String] = []
  private var said: [LineageState] = []
  private var number = 0

  init(seed: UInt64, customers: Int, service: TestService) {
    random = SeededGenerator(seed: seed)
    self.customers = customers
    self.service = service
    standing = (0..<customers).map { "c\($0)" }
  }

  mutating func live() async throws {
    for step in 0..<customers * 12 {
      // Nothing happens at the same moment.
      service.clock.advance(by: 1 + Int64.random(in: 0...40_000, using: &random))
      try await act()
      if step % 97 == 96 { try await passTime() }
      if step % 211 == 210 {
        service = try await service.reopened()
        restarts += 1
      }
    }
    try await passTime()
  }

  private mutating func act() async throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<38: try await buy()
    case 38..<56: try await change()
    case 56..<62: try await transfer()
    case 62..<80: try await spend()
    case 80..<86: try await grant()
    case 86..<93: try await repeatNews()
    case 93..<97: try await merge()
    default: try await erase()
    }
  }

  private mutating func passTime() async throws {
    service.clock.advance(by: Int64.random(in: 1...20, using: &random) * 86_400_000)
    while try await service.fire() > 0 {}
  }

  private mutating func someone() -> String { standing.randomElement(using: &random) ?? "c0" }

  private mutating func buy() async throws {
    number += 1
    let id = "\(number)"
    let now = service.clock.now()
    var bought =
      switch Int.random(in: 0..<5, using: &random) {
      case 0: monthly(id, from: 0, to: 30, reason: "PURCHASE")
      case 1: transaction(id, "themes.all", "Non-Consumable", on: 0)
      case 2: transaction(id, "season.pass", "Non-Renewing Subscription", on: 0)
      case 3: transaction(id, "boosts.10", "Consumable", on: 0)
      default: transaction(id, "coins.100", "Consumable", on: 0)
      }
    bought.purchaseDate = now
    bought.signedDate = now
    if bought.expiresDate != nil { bought.expiresDate = now + 30 * 86_400_000 }
    lines[id] = Line(owner: someone(), revision: 0, bought: [bought])
    ids.append(id)
    try await tell(id, cause: "proof")
  }

  /// A renewal, a refund of the whole or of a part, or its reversal.
  private mutating func change() async throws {
    guard let id = ids.randomElement(using: &random), var line = lines[id] else {
      return
    }
    let now = service.clock.now()
    if let last = line.bought.last, let end = last.expiresDate, Bool.random(using: &random) {
      var next = monthly("\(id)-\(line.revision)", from: 0, to: 30)
      next.purchaseDate = end
      next.signedDate = now
      next.expiresDate = end + 30 * 86_400_000
      line.bought.append(next)
    } else if line.bought[0].revocationDate == nil {
      line.bought[0].revocationDate = now
      if Bool.random(using: &random) {
        line.bought[0].revocationType = "REFUND_PRORATED"
        line.bought[0].revocationPercentage = Int64.random(in: 0...100_000, using: &random)
      }
    } else {
      line.bought[0].revocationDate = nil
      line.bought[0].revocationType = nil
      line.bought[0].revocationPercentage = nil
    }
    line.bought[0].signedDate = now
    lines[id] = line
    try await tell(id, cause: "notification")
  }

  private mutating func transfer() async throws {
    guard let id = ids.randomElement(using: &random) else { return }
    try await move(id, to: someone(), cause: "transfer")
  }

  private mutating func move(_ id: String, to owner: String, cause: String) async throws {
    guard let old = lines[id]?.owner, old != owner else { return }
    lines[id]?.owner = owner
    try await tell(id, cause: cause, leaving: old)
  }

  /// The next revision of a lineage, to who has it and to who left it, in either order.
  private mutating func tell(_ id: String, cause: String, leaving: String? = nil) async throws {
    guard var line = lines[id] else { return }
    line.revision += 1
    lines[id] = line
    let now = service.clock.now()
    let bought = line.bought.sorted { $0.purchaseDate < $1.purchaseDate }
    func state(_ customer: String, _ holding: Holding) -> LineageState {
      lineage(id, bought, revision: line.revision) {
        $0.customer = customer
        $0.holding = holding
        $0.cause = LineageCause(kind: cause)
        $0.decidedAt = now
      }
    }
    var states = [state(line.owner, .held)] + (leaving.map { [state($0, .left)] } ?? [])
    states.shuffle(using: &random)
    for state in states { try await service.read(state) }
    said += states
  }

  /// Kafka repeats what stands at the end of a partition, and an old state comes late.
  private mutating func repeatNews() async throws {
    guard let state = said.suffix(40).randomElement(using: &random) else { return }
    try await service.read(state)
  }

  private mutating func spend() async throws {
    number += 1
    let unit = Bool.random(using: &random) ? "coins" : "boosts"
    let answer = try await service.request(
      .post, "/v1/customers/\(someone())/spends",
      #"{"units": {"\#(unit)": \#(Int.random(in: 1...130, using: &random))}, "#
        + #""environment": "Sandbox", "reason": "number \#(number)"}"#, key: "spend-\(number)")
    if answer.status == 201 { spends += 1 } else { refusedSpends += 1 }
    #expect([201, 422].contains(answer.status))
  }

  private mutating func grant() async throws {
    number += 1
    let end = service.clock.now() + Int64.random(in: 1...40, using: &random) * 86_400_000
    let kind = Bool.random(using: &random)
    let body =
      kind
      ? #"{"entitlement": "vip", "environment": "Sandbox", "reason": "won", "expiresAt": \#(end)}"#
      : #"{"units": {"coins": 7}, "environment": "Sandbox", "expiresAt": \#(end), "reason": "gift"}"#
    let answer = try await service.request(
      .post, "/v1/customers/\(someone())/\(kind ? "grants" : "credits")", body,
      key: "gift-\(number)")
    #expect(answer.status == 201)
  }

  private mutating func merge() async throws {
    guard standing.count > customers / 2 else { return }
    let old = someone()
    standing.removeAll { $0 == old }
    let new = someone()
    merges += 1
    let moved = lines.filter { $0.value.owner == old }.keys.sorted()
    let isFirst = Bool.random(using: &random)
    if isFirst { try await service.merge(old, into: new, at: service.clock.now()) }
    for id in moved { try await move(id, to: new, cause: "merge") }
    if !isFirst { try await service.merge(old, into: new, at: service.clock.now()) }
  }

  private mutating func erase() async throws {
    guard standing.count > customers / 2 else { return }
    let gone = someone()
    standing.removeAll { $0 == gone }
    erasures += 1
    let moved = lines.filter { $0.value.owner == gone }.keys.sorted()
    let isFirst = Bool.random(using: &random)
    if isFirst { try await service.erase(gone, at: service.clock.now()) }
    for id in moved {
      try await move(id, to: "$appstore:com.example.app/Sandbox/\(id)", cause: "erasure")
    }
    if !isFirst { try await service.erase(gone, at: service.clock.now()) }
  }
}
