import Cryptography
public import Events
public import SQLite
public import ServiceRuntime

/// A service's store: one writer thread, readers of their own, an outbox, wake-ups after COMMIT.
public final class Store: Sendable {
  /// Read-only connections; each job sees one consistent state.
  public let readers: Readers
  /// Which shard the store is.
  public var shard: Shard { context.shard }
  /// Whose store it is, as its events name it in `ce_source`, such as `/purser/order-service`.
  public var source: String { context.source }
  /// The clock of all changes.
  public let clock: any WallClock
  let path: String
  let writer: Writer
  let context: StoreContext

  /// Opens the store and takes its lock.
  ///
  /// - Parameters:
  ///   - path: The SQLite file; made when it is not there.
  ///   - migrations: The service's migrations; the first begins with `PipelineTables.version1`.
  ///   - source: `ce_source` of the events that it publishes, such as `/purser/order-service`.
  ///   - topics: The names of the topics.
  ///   - shard: Whose the store is; it is remembered, and another one is refused.
  ///   - clock: The clock of all changes.
  ///   - tracer: Makes spans of what is read and published.
  ///   - log: Where it speaks.
  ///   - metrics: Where it counts.
  /// - Throws: `SQLiteError`, for instance when another process holds the lock; `ShardMismatch`.
  public convenience init(
    path: String, migrations: [Migration], source: String, topics: TopicNames,
    shard: Shard = .only, clock: any WallClock, tracer: Tracer = .off, log: Log, metrics: Metrics
  ) throws {
    try self.init(
      path: path, migrations: migrations, source: source, topics: topics, shard: shard,
      clock: clock, tracer: tracer, log: log, metrics: metrics, beforeCommitForTests: nil)
  }

  /// The same, with something that runs before each COMMIT and may make it fail.
  init(
    path: String, migrations: [Migration], source: String, topics: TopicNames,
    shard: Shard = .only, clock: any WallClock, tracer: Tracer = .off, log: Log, metrics: Metrics,
    beforeCommitForTests: (@Sendable (borrowing Connection) throws -> Void)?
  ) throws {
    self.clock = clock
    self.path = path
    context = StoreContext(
      source: source, shard: shard, topics: topics, metrics: metrics, log: log, tracer: tracer)
    writer = try Writer(
      path: path, migrations: migrations, applicationID: StoreIdentity.id(of: source), log: log,
      metrics: metrics, name: "store",
      beforeCommitForTests: beforeCommitForTests)
    try writer.writeAndWait { transaction in
      try ShardOfStore.claim(transaction, shard, path: path)
    }
    readers = try Readers(path: path, count: 2, log: log, metrics: metrics)
    let newest = try readers.readAndWait { reader in try Outbox.newestID(reader) }
    context.outbox.begin(newestID: newest)
  }

  /// Finishes what is queued and closes the store.
  func close(by deadline: Deadline) async {
    await readers.close(by: deadline)
    await writer.close(by: deadline)
  }

  /// The same for a store that no service has; blocks.
  ///
  /// Only for threads of ours.
  func closeAndWait() {
    let closed = Completion<Void>()
    Task {
      await close(by: .after(.seconds(60)))
      closed.complete(with: ())
    }
    closed.wait()
  }

  /// All files of a store.
  static func files(of path: String) -> [String] {
    [path, "\(path)-wal", "\(path)-shm", "\(path).lock"]
  }

  /// Says that a timer's next due time may have changed for a reason outside of the store.
  public func rescheduleTimers() { context.timers.wake.signal() }

  /// Changes the store; returns after COMMIT.
  ///
  /// Cancellation does not undo a change: once accepted, it runs. What changes on behalf of a
  /// `Caller` is in the log of writes.
  ///
  /// - Throws: `WriterBusy` when the queue is full, `WriterClosed` when stopping, the job's own
  ///   error, `SQLiteError`.
  public func change<Result: Sendable>(
    _ body: @escaping @Sendable (Change) throws -> Result
  ) async throws -> Result {
    let (clock, context, trace) = (clock, context, TraceContext.current)
    guard let caller = Caller.current else {
      return try await writer.write { transaction in
        try body(
          Change(transaction: transaction, now: clock.now(), context: context, trace: trace))
      }
    }
    return try await writer.write { transaction in
      let note = AuditNote(caller)
      let now = clock.now()
      let before = transaction.changedRows
      let result = try body(
        Change(transaction: transaction, now: now, context: context, audit: note, trace: trace))
      if transaction.changedRows != before { try AuditLog.insert(transaction, note, at: now) }
      return result
    }
  }

  /// Changes the store and blocks until COMMIT.
  ///
  /// Only for threads of ours.
  public func changeAndWait<Result: Sendable>(
    _ body: @escaping @Sendable (Change) throws -> Result
  ) throws -> Result {
    let (clock, context) = (clock, context)
    return try writer.writeAndWait { transaction in
      try body(Change(transaction: transaction, now: clock.now(), context: context))
    }
  }
}

/// The store's place in the order of starting: the first to start, the last to stop.
public final class StoreService: Service {
  /// The name that logs show.
  public let name = "store"
  private let store: Store
  private let ended = Completion<Void>()

  /// Makes the service over an open store.
  public init(_ store: Store) { self.store = store }

  /// Returns when the store has been closed.
  public func run() async { await ended.value() }

  /// Finishes what is queued and closes the store.
  public func stop(by deadline: Deadline) async {
    await store.close(by: deadline)
    ended.complete(with: ())
  }
}

/// Tells the stores of the services apart, so that none opens another's.
enum StoreIdentity {
  /// A number for `PRAGMA application_id`: the first 31 bits of the hash of `ce_source`, never 0.
  static func id(of source: String) -> Int32 {
    let bits = SHA256.hash(source).prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return max(1, Int32(truncatingIfNeeded: bits & 0x7FFF_FFFF))
  }
}
