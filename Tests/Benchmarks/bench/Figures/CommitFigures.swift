import BenchBaselines
import SQLite
import ServiceRuntime
import Synchronization

/// Commits of `SQLite.Writer` beside plain C with the same statements, settings and rows per commit.
enum CommitFigures {
  private static let schema = """
    CREATE TABLE IF NOT EXISTS facts (id INTEGER PRIMARY KEY, key BLOB, value BLOB);
    CREATE INDEX IF NOT EXISTS facts_by_key ON facts (key)
    """
  private static let insert = "INSERT INTO facts (key, value) VALUES (?, ?)"

  static func measure(_ bench: Bench) throws -> [Figure] {
    let rounds = bench.options.isSmoke ? 2 : 6
    let slice = bench.options.isSmoke ? 0.1 : 0.4
    return try [1, 10, 200].map { rows in
      var alone: [Double] = []
      var ours: [Double] = []
      var cpuAlone = 0.0
      let writer = try Writer(
        path: bench.file("writer-\(rows).sqlite"),
        migrations: [Migration(version: 1, schema)], groupLimit: 256)
      defer { wait { await writer.close(by: .after(.seconds(5))) } }
      let began = Meter.ownCPU
      var sliced = 0.0
      for _ in 0..<rounds {
        var cpu = 0.0
        let rate = unsafe baseline_sqlite_rows(
          bench.file("alone-\(rows).sqlite"), schema, insert, Int32(rows), slice, &cpu)
        guard rate > 0 else { throw BenchError("SQLite alone failed") }
        alone.append(rate)
        cpuAlone += cpu * 1e6 / Double(rounds)
        sliced += rate * slice * cpu
        ours.append(try jobs(writer, inFlight: rows, seconds: slice))
      }
      let count = ours.reduce(0, +) * slice
      let cpuOurs = (Meter.ownCPU - began - sliced) / max(1, count) * 1e6
      return Figure(
        "commit.\(rows)", "one-row jobs, \(rows) in flight, synchronous=FULL", ours.median,
        "rows/s", limit: ("SQLite alone, \(rows) rows per commit", alone.median),
        notes: ["CPU per row: \(shown(cpuOurs)) µs, alone \(shown(cpuAlone)) µs"])
    }
  }

  /// Keeps so many one-row jobs in flight, as so many requests would; gives jobs per second.
  private static func jobs(_ writer: Writer, inFlight: Int, seconds: Double) throws -> Double {
    let flow = Flow(writer, until: .after(.microseconds(Int64(seconds * 1e6))))
    let began = ContinuousClock.now
    flow.begin(inFlight)
    flow.ended.wait()
    let took = (ContinuousClock.now - began).inSeconds
    guard flow.failures == 0 else { throw BenchError("a job of the writer failed") }
    return Double(flow.count) / took
  }

  /// Each answer submits the next job until the time is over.
  private final class Flow: Sendable {
    private struct State {
      var open = 0
      var count = 0
      var failures = 0
    }

    let ended = Completion<Void>()
    private let writer: Writer
    private let deadline: Deadline
    private let state = Mutex(State())
    private let key = [UInt8](repeating: 0, count: 16)
    private let value = [UInt8](repeating: 0, count: 480)

    init(_ writer: Writer, until deadline: Deadline) {
      self.writer = writer
      self.deadline = deadline
    }

    var count: Int { state.withLock { $0.count } }
    var failures: Int { state.withLock { $0.failures } }

    func begin(_ jobs: Int) {
      state.withLock { $0.open = jobs }
      for _ in 0..<jobs { submit() }
    }

    private func submit() {
      let (key, value) = (key, value)
      writer.submit { transaction in
        try transaction.run(CommitFigures.insert, key, value)
      } answer: { [self] (result: Result<Int, any Error>) in
        let goesOn = !deadline.hasPassed
        let isLast = state.withLock { state in
          state.count += 1
          if case .failure = result { state.failures += 1 }
          if !goesOn { state.open -= 1 }
          return state.open == 0
        }
        if goesOn { submit() }
        if isLast { ended.complete(with: ()) }
      }
    }
  }
}

/// Waits on a thread of ours for something asynchronous.
func wait(_ body: @escaping @Sendable () async -> Void) {
  let done = Completion<Void>()
  Task {
    await body()
    done.complete(with: ())
  }
  done.wait()
}
