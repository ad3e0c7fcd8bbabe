import Glibc
public import ServiceRuntime
import Synchronization

/// The one writer of a store: jobs from any task or thread, one thread, many jobs in one COMMIT.
///
/// A job is synchronous, so that nothing can be awaited inside a transaction. Its caller hears of
/// success only after the COMMIT has returned (`synchronous=FULL`). Cancelling the caller's task
/// does not take back a job that was accepted.
public final class Writer: Sendable {
  private let store: String
  private let queue: JobQueue<WriteJob>
  private let metrics: StoreMetrics
  private let thread: DedicatedThread
  private let threadID: Completion<pthread_t>

  /// Opens the store, locks it, brings it up to date and starts the thread `sqlite-writer`.
  ///
  /// Blocks until the store is open: call it at start.
  /// - Parameters:
  ///   - path: The store's file; `<path>.lock` is made beside it.
  ///   - migrations: All steps since the first version.
  ///   - applicationID: Tells the stores of different programs apart (`PRAGMA application_id`); a new
  ///     file gets it, and a file with another one is refused. Nil asks nothing.
  ///   - queueLimit: How many jobs may wait; beyond it `WriterBusy` is thrown.
  ///   - groupLimit: How many jobs share one COMMIT at most.
  ///   - log: Hears of failures of the store.
  ///   - metrics: Gets the `sqlite_…` series.
  ///   - name: The value of the label `store`.
  ///   - beforeCommitForTests: Runs on the writer's thread before each COMMIT; throwing fails it.
  /// - Throws: `SQLiteError`; `.ownedElsewhere` when another process has the store, `.newerStore`
  ///   when a newer program wrote it.
  public init(
    path: String, migrations: [Migration], applicationID: Int32? = nil, queueLimit: Int = 4096,
    groupLimit: Int = 256,
    log: Log = .silent, metrics: Metrics = Metrics(), name: String = "store",
    beforeCommitForTests: (@Sendable (borrowing Connection) throws -> Void)? = nil
  ) throws(SQLiteError) {
    let queue = JobQueue<WriteJob>(limit: queueLimit)
    let storeMetrics = StoreMetrics(metrics, store: name, queue: queue)
    let work = WriterThread(
      path: path, store: name, migrations: migrations, applicationID: applicationID,
      groupLimit: groupLimit, queue: queue,
      group: GroupCommit(metrics: storeMetrics, beforeCommit: beforeCommitForTests), log: log)
    let opened = Completion<Result<Void, SQLiteError>>()
    let threadID = Completion<pthread_t>()
    store = name
    self.queue = queue
    self.metrics = storeMetrics
    self.threadID = threadID
    thread = DedicatedThread(name: "sqlite-writer") {
      threadID.complete(with: pthread_self())
      work.run(opened)
    }
    try opened.wait().get()
  }

  deinit {
    queue.close()
  }

  /// Runs the job in a transaction and returns its result after the COMMIT.
  ///
  /// - Throws: `WriterBusy` when the queue is full, `WriterClosed` when closing; a `SQLiteError`
  ///   whose `isStorageFailure` is true when the store failed and nothing was written; otherwise
  ///   what the job threw, in which case only this job was rolled back.
  @discardableResult
  public func write<R: Sendable>(
    _ job: @escaping @Sendable (Transaction) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      add(WriteJob(job) { continuation.resume(with: $0) })
    }
  }

  /// The same as `write(_:)`, but blocks the calling thread.
  ///
  /// Only for threads of ours.
  @discardableResult
  public func writeAndWait<R: Sendable>(
    _ job: @escaping @Sendable (Transaction) throws -> R
  ) throws -> R {
    // The writer's thread would wait for itself.
    precondition(threadID.current != pthread_self(), "writeAndWait on the writer's own thread")
    let answer = Completion<Result<R, any Error>>()
    add(WriteJob(job) { answer.complete(with: $0) })
    return try answer.wait().get()
  }

  /// Runs the job like `write(_:)`, without waiting: for threads of ours that have other work.
  ///
  /// The answer comes exactly once, after the COMMIT, on the writer's thread (a refusal at once, on
  /// the calling one). It must be quick: other answers wait behind it.
  public func submit<R: Sendable>(
    _ job: @escaping @Sendable (Transaction) throws -> R,
    answer: @escaping @Sendable (Result<R, any Error>) -> Void
  ) {
    add(WriteJob(job, answer: answer))
  }

  private func add(_ job: WriteJob) {
    switch queue.add(job) {
    case nil: break
    case .full:
      metrics.refusedJobs.add()
      job.fail(WriterBusy(store: store))
    case .closed: job.fail(WriterClosed(store: store))
    }
  }

  /// Finishes what is queued, moves the log into the store and closes it.
  ///
  /// What is not done by the deadline fails with `WriterClosed`.
  public func close(by deadline: Deadline) async {
    queue.close()
    guard await !thread.joined(by: deadline) else { return }
    for job in queue.drain() { job.fail(WriterClosed(store: store)) }
  }
}
