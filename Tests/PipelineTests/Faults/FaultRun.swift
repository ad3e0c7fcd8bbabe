import Glibc
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import purser

/// Customers buy while faults happen; then all is mended, becomes quiet, and must be as they did it.
///
/// The seed makes customers and faults choose the same again.
struct FaultRun: Sendable {
  let seed: UInt64
  let length: Duration
  var workers = 6
  /// Faults that must happen, before others by chance.
  var first: [Fault] = []
  /// Whether others by chance follow until the time is over.
  var adds = true
  /// Whether each store is lost at the end, rebuilt and compared; not where the broker keeps nothing.
  var rebuilds = true
  /// What the services take for Kafka.
  var broker: @Sendable () throws -> WayBroker = WayBroker.development

  /// What a run did.
  struct Outcome: Sendable {
    /// From all being ready again until nothing was on its way any more.
    var recovery = Duration.zero
    var customers = 0
    var orders = 0
    var faults: [String] = []
    /// How many processes died inside the step that was chosen.
    var deathsInSteps = 0
    /// How many producers librdkafka gave up.
    var producersGivenUp = 0
    var events = 0
  }

  /// A run that broke a law or could not go on.
  struct Failure: Error, CustomStringConvertible {
    let seed: UInt64
    let cause: String
    let faults: [String]
    let folder: String
    let again: String

    var description: String {
      "the run with seed \(seed) failed: \(cause)\n  faults:\n    "
        + faults.joined(separator: "\n    ")
        + "\n  stores and logs are kept in \(folder)"
        + "\n  again: \(again)"
    }
  }

  /// Runs, and stops everything that it started.
  ///
  /// - Throws: `Failure` with the seed and the first broken law.
  func run() async throws -> Outcome {
    // The settings of the simulator keep enough notifications to deliver again what nobody took.
    let way = try await Way.start(
      extra: { plan in
        let simulator = [
          "SIMULATOR_NOTIFICATION_LANES": "4", "SIMULATOR_NOTIFICATION_HISTORY": "10000",
        ]
        return FaultInjector.settings(of: plan).merging(["app-store-simulator": simulator]) { $1 }
      }, on: broker)
    let injector = FaultInjector(way)
    do {
      let load = Load(way, seed: seed, workers: workers)
      try await play(load, injector)
      let recovery = try await settle(load, injector)
      if rebuilds { try await way.loseEachStore() }
      let outcome = Outcome(
        recovery: recovery, customers: load.counts.customers, orders: load.counts.orders,
        faults: injector.history,
        deathsInSteps: injector.deathsInSteps, producersGivenUp: injector.producersGivenUp,
        events: way.journal.count)
      let complaints = await way.stop()
      guard complaints.isEmpty else { throw NotInTime(description: complaints.joined()) }
      return outcome
    } catch {
      way.broker.thaw()
      _ = await way.stop(keepingFiles: true)
      throw Failure(
        seed: seed, cause: String(describing: error), faults: injector.history,
        folder: way.folder.path, again: "make endurance MINUTES=1 SEED=\(seed)")
    }
  }

  private func play(_ load: Load, _ injector: FaultInjector) async throws {
    let end = Deadline.after(length)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await load.run() }
      group.addTask {
        defer { load.end() }
        var random = SeededGenerator(seed: seed)
        var wanted = first[...]
        while !load.hasEnded, !wanted.isEmpty || !end.hasPassed {
          try await Task.sleep(for: .milliseconds(Int.random(in: 200...2000, using: &random)))
          if let fault = wanted.popFirst() ?? (adds ? .random(&random) : nil) {
            try await injector.inject(fault)
          }
        }
        try await injector.mend()
      }
      group.addTask {
        // Apple comes again; here sooner than in an hour.
        while !load.hasEnded {
          _ = try? await load.redeliverFailed()
          try await Task.sleep(for: .milliseconds(500))
        }
      }
      try await group.waitForAll()
    }
  }

  private func settle(_ load: Load, _ injector: FaultInjector) async throws
    -> Duration
  {
    try await injector.mend()
    let mended = ContinuousClock.now
    try await load.deliverEverything(within: .seconds(120))
    let stores = try await load.way.quiet(within: .seconds(120))
    let recovery = ContinuousClock.now - mended
    try Laws.hold(load.way, stores)
    guard let first = load.findings(stores).first else { return recovery }
    throw Laws(events: Array(load.way.journal.events()), stores: stores).explained(first)
  }
}
