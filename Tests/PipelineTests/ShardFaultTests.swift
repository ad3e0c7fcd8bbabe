import Events
import FoundationEssentials
import Glibc
import HTTPClient
import Pipeline
import Processes
import ServiceRuntime
import Synchronization
import Testing

@testable import purser

extension WholeWay {
  /// Whatever happens to a shard, its neighbors go on, and nothing is lost and nothing doubled.
  @Suite("Shards under load", .serialized, .timeLimit(.minutes(5)))
  struct ShardFaultTests {
    @Test func `three shards are restarted, killed, frozen, lost and re-sharded under load`()
      async throws
    {
      let way = try await Way.startEmpty()
      do {
        try await way.begin(try ShardLayout(count: 3, folder: "three"))
        let first = Load(way, seed: 1, workers: 3)
        let probe = try await play(first) {
          try await rollingRestart(way)
          try await kill(way)
          try await freeze(way)
          try await loseVolumes(way)
        }
        #expect(probe.asked > 20 && probe.refused.isEmpty, "\(probe)")
        // What a client waits at most: a restart, and the shard's own start.
        #expect(probe.longest < .seconds(20), "\(probe)")
        print("three shards: \(probe)")

        try await way.halt()
        let two = try ShardLayout(count: 2, folder: "two")
        try await way.reshardWhole(to: two)
        try await way.begin(two)
        _ = try await play(Load(way, seed: 2, workers: 3, after: first)) { try await kill(way) }
      } catch {
        Issue.record("\(error); stores and logs are kept in \(way.plan.folder)")
        _ = await way.stop(keepingFiles: true)
        return
      }
      for complaint in await way.stop() { Issue.record("\(complaint)") }
    }

    /// Customers buy while something is done to the shards; then the laws must hold.
    private func play(_ load: Load, while deed: @escaping @Sendable () async throws -> Void)
      async throws -> Probe
    {
      let way = load.way
      let probe = ProbeBook()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await load.run() }
        group.addTask { try await Probe.run(way, "probe", probe) { load.hasEnded } }
        group.addTask {
          defer { load.end() }
          try await Task.sleep(for: .milliseconds(500))
          try await deed()
        }
        try await group.waitForAll()
      }
      try await load.deliverEverything(within: .seconds(60))
      let stores = try await way.quiet(within: .seconds(60))
      try Laws.hold(way, stores)
      if let first = load.findings(stores).first(where: { !$0.subject.hasPrefix("probe") }) {
        throw Laws(events: Array(way.journal.events()), stores: stores).explained(first)
      }
      return probe.current
    }

    private func rollingRestart(_ way: Way) async throws {
      for name in way.layout.withLock({ $0 }).all {
        #expect(try await way.end(name, by: SIGTERM) == .exit(0), "\(way.lastLines(of: name))")
        try await way.launch(name)
        try await way.ready(name)
      }
    }

    /// One shard of each service, all at once.
    private func kill(_ way: Way) async throws {
      let names = Way.services.map { "\($0)-1" }
      for name in names { try await way.end(name, by: SIGKILL) }
      try await Task.sleep(for: .milliseconds(300))
      for name in names { try await way.launch(name) }
      for name in names { try await way.ready(name) }
    }

    private func freeze(_ way: Way) async throws {
      let names = ["order-service-0", "entitlement-service-2", "verify-service-1"]
      for name in names { way.freeze(name) }
      try await Task.sleep(for: .seconds(3))
      for name in names { way.thaw(name) }
    }

    /// The volume of one shard of each service is lost, and rebuilt while the others serve.
    ///
    /// What was answered and had not reached the broker goes with a disk (docs/operations/recover.md), so those
    /// who answer requests end in order; what verify-service knows it has from topics.
    private func loseVolumes(_ way: Way) async throws {
      let signals = [
        ("order-service-2", SIGTERM), ("verify-service-0", SIGKILL),
        ("entitlement-service-1", SIGTERM),
      ]
      for (name, signal) in signals {
        try await way.end(name, by: signal)
        try way.lose(name)
        #expect(
          try await way.rebuild(name) == .exit(0), "\(way.lastLines(of: "\(name)-rebuild"))")
        try await way.launch(name)
        try await way.ready(name)
      }
    }
  }
}

/// A client that asks any shard and tries again where it is told to, and what it saw.
struct Probe: Sendable, CustomStringConvertible {
  var asked = 0
  /// Answers of 503, after which the same was asked again.
  var again = 0
  var longest = Duration.zero
  /// Everything else that is no answer.
  var refused: [String] = []

  var description: String {
    "\(asked) questions of a client, \(again) asked again, the longest took \(longest), "
      + "\(refused.count) refused\(refused.first.map { ": \($0)" } ?? "")"
  }

  /// Opens orders and reads them until told to end.
  static func run(
    _ way: Way, _ customer: String, _ book: ProbeBook, until hasEnded: () -> Bool
  ) async throws {
    var number = 0
    while !hasEnded() {
      number += 1
      let began = ContinuousClock.now
      var id: String?
      while !hasEnded() {
        do {
          let known = id
          if let known {
            _ = try await way.order(known)
            break
          }
          id = try await way.order(
            "\(customer)-\(number)", "coins.100", idempotencyKey: "\(customer)-\(number)"
          ).id
        } catch let answer as UnexpectedAnswer where answer.status == 503 {
          book.note { $0.again += 1 }
          try await Task.sleep(for: .milliseconds(100))
        } catch is HTTPClientError {
          // Cut off in the middle; the key makes it safe to ask again.
          book.note { $0.again += 1 }
          try await Task.sleep(for: .milliseconds(50))
        } catch {
          book.note { $0.refused.append("\(error)") }
          break
        }
      }
      let took = ContinuousClock.now - began
      book.note { probe in
        probe.asked += 1
        probe.longest = max(probe.longest, took)
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }
}

/// Keeps what a probe sees.
final class ProbeBook: Sendable {
  private let probe = Mutex(Probe())

  func note(_ change: (inout Probe) -> Void) { probe.withLock { change(&$0) } }

  var current: Probe { probe.withLock { $0 } }
}
