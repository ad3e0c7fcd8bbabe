import Events
import Glibc
import HTTPClient
import ServiceRuntime
import TestSupport
import Testing

@testable import purser

/// Customers live whole lives while the services are killed; time passes; then each store is lost in turn,
/// comes back from the topics, and must be the same.
///
/// The seed makes customers and kills choose the same again.
struct LifecycleRun: Sendable {
  let seed: UInt64
  let customers: Int
  var workers = 12

  private static let day: Int64 = 86_400_000

  /// What a run did.
  struct Outcome: Sendable {
    var customers = 0
    var orders = 0
    var events = 0
    var kills = 0
    var deeds: [String: Int] = [:]
    var repeatedSpends = 0
    var rows = 0
  }

  /// Runs, and stops everything that it started.
  ///
  /// - Throws: `FaultRun.Failure` with the seed and the first broken law.
  func run() async throws -> Outcome {
    let way = try await Way.start(extra: { plan in
      let simulator = [
        "SIMULATOR_NOTIFICATION_LANES": "4", "SIMULATOR_NOTIFICATION_HISTORY": "20000",
        "SIMULATOR_NOTIFICATION_QUEUE": "100000",
      ]
      // The broker of development answers a rebuild with all of a topic at once.
      let services = FaultInjector.settings(of: plan).mapValues {
        $0.merging(["KAFKA_RECEIVE_MESSAGE_MAX_BYTES": "2000000000"]) { $1 }
      }
      return services.merging(["app-store-simulator": simulator]) { $1 }
    })
    let injector = FaultInjector(way)
    do {
      let outcome = try await live(way, injector)
      let complaints = await way.stop()
      guard complaints.isEmpty else { throw NotInTime(description: complaints.joined()) }
      return outcome
    } catch {
      _ = await way.stop(keepingFiles: true)
      throw FaultRun.Failure(
        seed: seed, cause: String(describing: error), faults: injector.history,
        folder: way.folder.path,
        again: "make lifecycle CUSTOMERS=\(customers) SEED=\(seed)")
    }
  }

  private func live(_ way: Way, _ injector: FaultInjector) async throws -> Outcome {
    let tally = LifeTally()
    let load = Load(way, seed: seed, workers: workers, customers: customers) { buyer, random in
      try await Life(buyer: buyer, tally: tally).live(&random)
    }
    try await withKills(load, injector) { try await load.run() }
    try await settle(load, injector, "lived")
    load.passTime()
    try await withKills(load, injector) {
      let start = try await way.now()
      for step in 1...11 { try await way.skip(to: start + Int64(step * 10) * Self.day) }
    }
    let stores = try await settle(load, injector, "time passed")
    try holdLaws(way, stores)
    say("all laws hold")

    let table = way.plan.file("subscriber.sqlite")
    try await way.subscribe(table)
    let known = try await way.tableOfSubscriber(table)
    #expect(known == stores.rowsOfSubscribers && !known.isEmpty)
    let spends = try await answers(tally, way)
    say("each store is lost in turn")
    try await way.loseEachStore()
    #expect(try await answers(tally, way) == spends, "no spend is decided differently")
    try await way.subscribe(table)
    #expect(try await way.tableOfSubscriber(table) == known, "subscribers are unmoved")
    return Outcome(
      customers: load.counts.customers, orders: load.counts.orders, events: way.journal.count,
      kills: injector.history.count, deeds: tally.counts, repeatedSpends: spends.count,
      rows: known.count)
  }

  /// Does something while services are killed at random and Apple comes again with what nobody took.
  private func withKills(
    _ load: Load, _ injector: FaultInjector, _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    let isDone = Flag()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        defer { isDone.raise() }
        try await body()
      }
      group.addTask { try await kill(injector, until: isDone) }
      group.addTask {
        while !isDone.isRaised {
          _ = try? await load.redeliverFailed()
          try await Task.sleep(for: .seconds(1))
        }
      }
      group.addTask {
        var next = Deadline.after(.seconds(30))
        while !isDone.isRaised {
          try await Task.sleep(for: .milliseconds(200))
          guard next.hasPassed else { continue }
          next = .after(.seconds(30))
          // A subscriber comes, reads what there is, and goes.
          try await load.way.subscribe(load.way.plan.file("subscriber.sqlite"))
          say(
            "\(load.counts.customers) names, \(load.counts.orders) orders, \(load.way.journal.count) events"
          )
        }
      }
      try await group.waitForAll()
    }
    try await injector.mend()
  }

  /// SIGKILL of one service or of several, anywhere or inside a step.
  private func kill(_ injector: FaultInjector, until isDone: Flag) async throws {
    var random = SeededGenerator(seed: seed &+ 1)
    while !isDone.isRaised {
      try await Task.sleep(for: .milliseconds(Int.random(in: 300...3500, using: &random)))
      let services = Way.services.shuffled(using: &random)
      let downFor = Duration.milliseconds(Int.random(in: 0...600, using: &random))
      let fault: Fault =
        switch Int.random(in: 0..<6, using: &random) {
        case 0: .kill(services, downFor: downFor)
        case 1: .kill(Array(services.prefix(2)), downFor: downFor)
        case 2, 3:
          .crash(
            services[0], point: Fault.points.randomElement(using: &random) ?? "after-commit",
            time: Int.random(in: 1...40, using: &random))
        default: .kill([services[0]], downFor: downFor)
        }
      guard !isDone.isRaised else { return }
      try await injector.inject(fault)
    }
  }

  /// Waits until all is delivered and quiet, and holds it against the laws and what the customers did.
  @discardableResult
  private func settle(_ load: Load, _ injector: FaultInjector, _ what: String) async throws
    -> StoreContents
  {
    say("\(what); waiting until all is quiet")
    try await load.deliverEverything(within: .seconds(300))
    say("all is delivered")
    var stores = try await load.way.quiet(within: .seconds(300))
    say("all is quiet")
    // Orders of merged customers move by a timer, part by part.
    let end = Deadline.after(.seconds(60))
    while let finding = load.findings(stores).first {
      guard !end.hasPassed else {
        throw Laws(events: Array(load.way.journal.events()), stores: stores).explained(finding)
      }
      try await Task.sleep(for: .milliseconds(500))
      stores = try await load.way.quiet(within: .seconds(300))
    }
    say("all is as the customers did it")
    return stores
  }

  /// Holds everything that was published against the laws; those about one customer each for some of many.
  private func holdLaws(_ way: Way, _ stores: StoreContents) throws {
    let part = max(1, customers / 500)
    func isHeld(_ customer: String) -> Bool {
      customer.utf8.reduce(0) { ($0 &* 31 &+ Int($1)) & 0xFFFF } % part == 0
    }
    let events = Array(way.journal.events())
    let whole = Laws(events: events, stores: stores)
    var some = stores
    some.versions = stores.versions.filter { isHeld($0.key) }
    some.entitlements = stores.entitlements.filter { isHeld($0.key) }
    some.balances = stores.balances.filter { isHeld($0.key) }
    let each = Laws(
      events: events.filter { $0.topic.isOfEntitlements && isHeld($0.key) }, stores: some)
    let findings =
      whole.deadLetters(allowed: 0) + whole.headers() + whole.repeats() + whole.lineageRevisions()
      + each.versions() + each.folds()
    guard var first = findings.first else { return }
    first.others = findings.count - 1
    throw whole.explained(first)
  }

  /// What each covered spend is answered when it is asked for again.
  private func answers(_ tally: LifeTally, _ way: Way) async throws -> [String] {
    var answers: [String] = []
    for spend in tally.spends.prefix(1000) {
      let answer = try await way.send(
        "POST", "entitlement-service", "/v1/customers/\(spend.customer)/spends",
        body: Array(spend.body.utf8), headers: [("Idempotency-Key", spend.key)])
      #expect(answer.status == 200, "\(spend) was decided before")
      answers.append("\(answer.status) \(String(decoding: answer.body, as: UTF8.self))")
    }
    return answers
  }

  private func say(_ text: String) {
    Terminal.complain("lifecycle, \(rfc3339(SystemClock().now())): \(text)")
  }
}

extension Topic {
  /// Whether its records tell what a customer owns.
  fileprivate var isOfEntitlements: Bool { self == .entitlements || self == .entitlementState }
}
