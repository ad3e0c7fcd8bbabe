public import ServiceRuntime

/// Read-only connections to a store, each with a thread `sqlite-read-<n>`.
///
/// Readers and the writer do not wait for each other (write-ahead log). A job that begins after a
/// write was answered sees that write.
public final class Readers: Sendable {
  private let store: String
  private let queue: JobQueue<ReadJob>
  private let threads: [DedicatedThread]
  private let atOnce: AtOnceReader
  private let refused: Counter

  /// Opens the connections.
  ///
  /// The store must be there: open its `Writer` first.
  ///
  /// Blocks until they are open: call it at start.
  /// - Parameters:
  ///   - path: The store's file.
  ///   - count: How many threads read.
  ///   - queueLimit: How many jobs may wait; beyond it `ReadersBusy` is thrown.
  ///   - log: Hears of failures of the store.
  ///   - metrics: Gets the `sqlite_read_…` series.
  ///   - name: The value of the label `store`.
  public init(
    path: String, count: Int = 2, queueLimit: Int = 4096, log: Log = .silent,
    metrics: Metrics = Metrics(), name: String = "store"
  ) throws(SQLiteError) {
    let labels = ["store": name]
    let queue = JobQueue<ReadJob>(limit: queueLimit)
    refused = metrics.counter(
      "sqlite_read_refused_jobs_total", "Reads refused because the queue was full.",
      labels: labels)
    atOnce = AtOnceReader(path: path, metrics: metrics, labels: labels)
    let work = ReaderThread(
      path: path, queue: queue,
      failures: metrics.counter(
        "sqlite_read_failures_total", "Reads lost to a failure of the store or the disk.",
        labels: labels), log: log)
    metrics.reading("sqlite_read_queue_jobs", "Jobs that wait for a reader.", labels: labels) {
      [weak queue] in queue?.count ?? 0
    }
    store = name
    self.queue = queue
    var threads: [DedicatedThread] = []
    var openings: [Completion<Result<Void, SQLiteError>>] = []
    for index in 0..<count {
      let opened = Completion<Result<Void, SQLiteError>>()
      openings.append(opened)
      threads.append(DedicatedThread(name: "sqlite-read-\(index)") { work.run(opened) })
    }
    self.threads = threads
    for opened in openings {
      // When it throws here, `deinit` closes the queue and so ends the threads that did open.
      try opened.wait().get()
    }
  }

  deinit {
    queue.close()
  }

  /// Runs the job on a reader's thread with one snapshot of the store.
  ///
  /// - Throws: `ReadersBusy` when the queue is full, `ReadersClosed` when closing, `SQLiteError`,
  ///   and what the job throws.
  public func read<R: Sendable>(
    _ job: @escaping @Sendable (Reader) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      add(ReadJob(job) { continuation.resume(with: $0) })
    }
  }

  /// The same as `read(_:)`, but blocks the calling thread.
  ///
  /// Only for threads of ours.
  public func readAndWait<R: Sendable>(
    _ job: @escaping @Sendable (Reader) throws -> R
  ) throws -> R {
    let answer = Completion<Result<R, any Error>>()
    add(ReadJob(job) { answer.complete(with: $0) })
    return try answer.wait().get()
  }

  /// Runs a short job on the calling thread with one snapshot of the store, if that can be without waiting;
  /// nil when it cannot: then `read(_:)` does it.
  ///
  /// Only for threads of ours, such as those of the server's connections.
  ///
  /// - Parameter isOneStatement: The job runs one statement and no more; then it costs no transaction.
  /// - Throws: What the job throws.
  public func readAtOnce<R: Sendable>(
    isOneStatement: Bool = false, _ job: @Sendable (Reader) throws -> R
  ) throws -> R? {
    try atOnce.run(isOneStatement: isOneStatement, job)
  }

  private func add(_ job: ReadJob) {
    switch queue.add(job) {
    case nil: break
    case .full:
      refused.add()
      job.fail(ReadersBusy(store: store))
    case .closed: job.fail(ReadersClosed(store: store))
    }
  }

  /// Finishes what is queued and closes the connections.
  ///
  /// What is not done by the deadline fails with `ReadersClosed`.
  public func close(by deadline: Deadline) async {
    queue.close()
    atOnce.close()
    for thread in threads where await !thread.joined(by: deadline) {
      for job in queue.drain() { job.fail(ReadersClosed(store: store)) }
    }
  }
}

/// The readers' queue is full: the caller should wait a little and try again.
public struct ReadersBusy: Error, Sendable, Equatable, CustomStringConvertible {
  /// The store's name.
  public let store: String

  /// Makes one.
  public init(store: String) { self.store = store }

  /// Says so.
  public var description: String { "the store \(store) has too much to read; try again" }
}

/// The readers are closing or closed.
public struct ReadersClosed: Error, Sendable, Equatable, CustomStringConvertible {
  /// The store's name.
  public let store: String

  /// Makes one.
  public init(store: String) { self.store = store }

  /// Says so.
  public var description: String { "the store \(store) is closed" }
}
