import Events
import Pipeline
import SQLite
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import verify_service

@Suite("Proofs that wait for Apple", .timeLimit(.minutes(2))) struct IntakeWorkerTests {
  private let log = Log(program: "test", minimumLevel: .error) { _ in }

  /// Runs a worker until a condition holds.
  private func run(
    _ books: TestLedger, ask: @escaping @Sendable (PendingProofs.Row) async -> IntakeWorker.Answer,
    until condition: () async throws -> Bool
  ) async throws {
    let worker = IntakeWorker(store: books.store, log: log, metrics: Metrics(), ask: ask)
    let running = Task { try await worker.run() }
    while try await !condition() { try await Task.sleep(for: .milliseconds(5)) }
    await worker.stop(by: .after(.seconds(5)))
    try await running.value
  }

  private func park(_ books: TestLedger, _ proofs: Proof...) async throws {
    try await books.change { change in
      for proof in proofs { try PendingProofs.insert(change, proof) }
    }
  }

  @Test func `each has its answer, and those that wait do not hold up the others`() async throws {
    let samples = try IntakeSamples()
    let books = try TestLedger()
    try await park(
      books, samples.proof(.transactionId, "1", id: "slow"),
      samples.proof(.transactionId, "2", id: "gone"),
      samples.proof(.transactionId, "3", id: "good"))
    let signed = try samples.transaction()
    let lineage = LineageID(
      bundleId: "com.example.app", environment: "Sandbox", originalTransactionId: "1000")
    try await run(books) { row in
      switch row.proof.id {
      case "slow":
        try? await Task.sleep(for: .seconds(3600))
        return .tryLater(fault: "slow", after: nil)
      case "gone": return .decided(.rejected(reason: "unknown-transaction", detail: "no"))
      default: return .decided(.proved(ProvedFacts(signed: signed, lineage)))
      }
    } until: {
      let told = try await (books.facts().count, books.outcomes().count)
      return told == (1, 1)
    }
    #expect(try await books.facts().first?.proof?.kind == .transactionId)
    // The slow one was interrupted by the stop and is still there.
    let left = try await books.store.readers.read { try PendingProofs.count($0) }
    #expect(left == 1)
  }

  @Test func `a stop interrupts what is under way, also what was begun at that moment`()
    async throws
  {
    let samples = try IntakeSamples()
    let books = try TestLedger()
    try await park(books, samples.proof(.transactionId, "1", id: "slow"))
    for _ in 0..<60 {
      let asked = Atomic<Int>(0)
      try await run(books) { _ in
        asked.wrappingAdd(1, ordering: .relaxed)
        try? await Task.sleep(for: .seconds(3600))
        return .tryLater(fault: "slow", after: nil)
      } until: {
        asked.load(ordering: .relaxed) > 0
      }
    }
    let left = try await books.store.readers.read { try PendingProofs.count($0) }
    #expect(left == 1)
  }

  @Test func `a failure is asked again later, longer each time, and given up after a week`()
    async throws
  {
    let samples = try IntakeSamples()
    let books = try TestLedger()
    try await park(books, samples.proof(.transactionId, "1", id: "p"))
    let tries = Mutex<[Int64]>([])
    try await run(books) { row in
      tries.withLock { $0.append(books.clock.now()) }
      return .tryLater(fault: "away", after: nil)
    } until: {
      books.clock.advance(by: 3_600_000)
      return try await books.outcomes().count == 1
    }
    #expect(try await books.outcomes().map(\.reason) == ["apple-unreachable"])
    #expect(tries.withLock { $0.count } > 3)
  }

  @Test func `the pace doubles up to ten minutes, and Apple's wish counts up to a day`() {
    for tries in Int64(0)..<60 {
      let pause = PendingPace.pause(tries: tries, asked: nil, random: 0.999)
      #expect(pause <= PendingPace.longestPause && pause >= 1000)
    }
    #expect(PendingPace.pause(tries: 0, asked: .seconds(3600), random: 0) == 3_600_000)
    #expect(PendingPace.pause(tries: 0, asked: .seconds(1 << 40), random: 0) == 86_400_000)
  }

  @Test func `a proof that was settled meanwhile is not told twice`() async throws {
    let samples = try IntakeSamples()
    let books = try TestLedger()
    let proof = samples.proof(.transactionId, "1", id: "p")
    try await park(books, proof)
    try await run(books) { row in
      // As if another answer had come first.
      try? await books.change { _ = try PendingProofs.remove($0, row.proof) }
      return .decided(.rejected(reason: "late", detail: "late"))
    } until: {
      try await books.store.readers.read { try PendingProofs.count($0) } == 0
    }
    #expect(try await books.outcomes().isEmpty)
  }
}
