import Glibc
import ServiceRuntime
import Synchronization

/// A connection for reads on the thread that asks: two hand-overs between threads cost more than such a
/// read does.
///
/// Used by one thread at a time. A read may have to wait for the disk, and who reads here serves many
/// others: so after one that waited long this way is shut for ten times as long, and reads go to the
/// readers' threads. At most a tenth of a thread's time can so be lost.
final class AtOnceReader: Sendable {
  /// So long a read may wait.
  static let patience = Duration.milliseconds(1)

  private struct State {
    var database: Database?
    var shutUntil: ContinuousClock.Instant?
    var isClosed = false
  }

  private let path: String
  private let state = Mutex(State())
  private let read: Counter
  private let shut: Counter

  init(path: String, metrics: Metrics, labels: [String: String]) {
    self.path = path
    read = metrics.counter(
      "sqlite_read_at_once_total", "Reads on the thread that asked.", labels: labels)
    shut = metrics.counter(
      "sqlite_read_at_once_shut_total",
      "Reads that waited so long that others go to the readers' threads for a while.",
      labels: labels)
  }

  /// Runs a job; nil when it cannot be at once, or the store failed: the readers' threads will say.
  ///
  /// A job of one statement has its snapshot without a transaction around it.
  func run<R: Sendable>(isOneStatement: Bool, _ job: @Sendable (Reader) throws -> R) throws -> R? {
    let answer: Result<R, any Error>?? = state.withLockIfAvailable { state in
      let (began, waits) = (ContinuousClock.now, Self.waits)
      guard !state.isClosed, state.shutUntil.map({ began >= $0 }) ?? true,
        let database = open(&state)
      else { return nil }
      let result = Result {
        try isOneStatement ? Self.readOne(job, on: database) : Self.read(job, on: database)
      }
      let took = ContinuousClock.now - began
      // A busy machine, which gives the thread no core for a while, is no reason to go another way.
      let hasWaited = took >= Self.patience && Self.waits > waits
      state.shutUntil = hasWaited ? began + took * 11 : nil
      (state.shutUntil == nil ? read : shut).add()
      if case .failure(let error) = result, error is SQLiteError {
        state.database = nil
        return nil
      }
      return result
    }
    return try answer??.get()
  }

  func close() {
    state.withLock { state in
      state.isClosed = true
      state.database = nil
    }
  }

  /// How often this thread has waited for something, such as the disk (getrusage(2), `ru_nvcsw`).
  private static var waits: Int {
    var usage = rusage()
    // 1 is RUSAGE_THREAD, which Glibc's module does not show.
    _ = unsafe getrusage(1, &usage)
    return usage.ru_nvcsw
  }

  private func open(_ state: inout State) -> Database? {
    if let database = state.database { return database }
    guard let database = try? Connection(path: path, mode: .readOnly).database else { return nil }
    // Whoever must wait for a lock waits elsewhere.
    database.setBusyTimeout(milliseconds: 0)
    state.database = database
    return database
  }

  private static func read<R>(_ job: (Reader) throws -> R, on database: Database) throws -> R {
    try database.control("BEGIN")
    let reader = Reader(database)
    defer {
      reader.end()
      if database.isInTransaction { try? database.control("COMMIT") }
    }
    return try job(reader)
  }

  private static func readOne<R>(_ job: (Reader) throws -> R, on database: Database) throws -> R {
    let reader = Reader(database, statements: 1)
    defer { reader.end() }
    return try job(reader)
  }
}
