import Events
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization

/// Asks Apple about the proofs that wait for it, a few at a time; safe to kill at any instant, as a
/// row goes in the same COMMIT that publishes what was found.
final class IntakeWorker: Service {
  /// The name that logs show; also the thread's.
  let name = "intake"

  /// Proofs about which Apple is asked at one time.
  static let limit = 8

  private let store: Store
  private let ask: @Sendable (PendingProofs.Row) async -> Answer
  private let log: Log
  private let metrics: Metrics
  private let signal = Wake()
  private let stopping = Completion<Void>()
  private let ended = Completion<Void>()
  private let waiting = Atomic<Int>(0)
  private let running = Mutex<[String: Task<Void, Never>]>([:])

  /// What Apple's answer makes of a proof.
  enum Answer: Sendable {
    case decided(Judgement)
    /// Nothing is known yet: why, and how long Apple wants to be left alone.
    case tryLater(fault: String, after: Duration?)
  }

  init(
    store: Store, log: Log, metrics: Metrics,
    ask: @escaping @Sendable (PendingProofs.Row) async -> Answer
  ) {
    self.store = store
    self.ask = ask
    self.log = log
    self.metrics = metrics
    metrics.reading("pending_proofs", "Proofs that wait for an answer of Apple's.") { [weak self] in
      self?.waiting.load(ordering: .relaxed) ?? 0
    }
  }

  /// Looks for work after a COMMIT.
  func wake(after change: Change) {
    change.transaction.afterCommit(key: "intake") { [signal] in signal.signal() }
  }

  func run() async throws {
    defer { ended.complete(with: ()) }
    try await DedicatedThread.run(named: name) { self.loop() }
    // `stop` may have come before the loop began the last of them.
    cancelAll()
    for task in running.withLock({ Array($0.values) }) { await task.value }
  }

  func stop(by deadline: Deadline) async {
    stopping.complete(with: ())
    signal.signal()
    cancelAll()
    await ended.value()
  }

  private func cancelAll() {
    for task in running.withLock({ Array($0.values) }) { task.cancel() }
  }

  private func loop() {
    while stopping.current == nil {
      do {
        let free = Self.limit - running.withLock { $0.count }
        if free > 0 { try start(atMost: free) }
      } catch {
        log.error("waiting proofs could not be read", ["error": LogValue(error)])
      }
      signal.wait(atMost: min(store.clock.longestSleep, .milliseconds(500)))
    }
  }

  private func start(atMost free: Int) throws {
    let now = store.clock.now()
    let (due, count) = try store.readers.readAndWait { reader in
      // Those under way are due too: they stand in front of the others.
      (
        try PendingProofs.due(reader, by: now, limit: Self.limit * 2),
        try PendingProofs.count(reader)
      )
    }
    waiting.store(Int(clamping: count), ordering: .relaxed)
    let known = running.withLock { Set($0.keys) }
    for row in due.filter({ !known.contains($0.proof.id) }).prefix(free) {
      // The task takes itself off the list, and so must not begin before it stands there.
      running.withLock { running in
        running[row.proof.id] = Task {
          await TraceContext.$current.withValue(row.trace) { await self.settle(row) }
        }
      }
    }
  }

  private func settle(_ row: PendingProofs.Row) async {
    let answer = await ask(row)
    do {
      if !Task.isCancelled { try await write(answer, row) }
    } catch {
      log.error(
        "what Apple said about a proof could not be written; it is asked again",
        ["error": LogValue(error)])
    }
    running.withLock { running in running[row.proof.id] = nil }
    signal.signal()
  }

  private func write(_ answer: Answer, _ row: PendingProofs.Row) async throws {
    var answer = answer
    if case .tryLater(let fault, _) = answer,
      store.clock.now() - row.since > PendingPace.longestWait
    {
      answer = .decided(
        .rejected(
          reason: "apple-unreachable",
          detail: "Apple gave no answer in seven days, at last: \(fault)"))
    }
    switch answer {
    case .decided(let judgement):
      metrics.countProof(judgement)
      try await store.change { change in
        // Gone: it was settled while this answer was under way.
        guard try PendingProofs.remove(change, row.proof) else { return }
        switch judgement {
        case .proved(let facts): try facts.publish(for: row.proof, change)
        case .rejected(let reason, let detail):
          try ProofOutcomes.reject(change, row.proof, reason, detail)
        case .askApple: throw IntakeFault.undecided
        }
      }
    case .tryLater(let fault, let after):
      log.warning(
        "Apple's answer about a proof is still to come",
        ["proof": .string(row.proof.id), "tries": LogValue(row.tries + 1), "fault": .string(fault)])
      let pause = PendingPace.pause(
        tries: row.tries, asked: after, random: Double.random(in: 0..<1))
      try await store.change { change in
        try PendingProofs.retry(change, row, at: change.now + pause, fault: fault)
      }
    }
  }
}

/// A fault of our own.
enum IntakeFault: Error {
  /// Whoever asked Apple must decide.
  case undecided
}
