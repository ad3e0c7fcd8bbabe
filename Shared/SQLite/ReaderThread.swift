import ServiceRuntime

/// A job that waits for a reader.
struct ReadJob: Sendable {
  /// Does the work and gives the answer.
  let run: @Sendable (Reader) throws -> @Sendable () -> Void
  /// Sends a failure.
  let fail: @Sendable (any Error) -> Void

  init<R: Sendable>(
    _ job: @escaping @Sendable (Reader) throws -> R,
    answer: @escaping @Sendable (Result<R, any Error>) -> Void
  ) {
    run = { reader in
      let result = try job(reader)
      return { answer(.success(result)) }
    }
    fail = { error in answer(.failure(error)) }
  }
}

/// The life of one reader's thread with its connection.
struct ReaderThread: Sendable {
  let path: String
  let queue: JobQueue<ReadJob>
  let failures: Counter
  let log: Log

  /// Opens a connection, says how that went, and reads until the queue is closed and empty.
  func run(_ opened: Completion<Result<Void, SQLiteError>>) {
    var database: Database?
    do throws(SQLiteError) {
      database = try open()
    } catch {
      opened.complete(with: .failure(error))
      return
    }
    opened.complete(with: .success(()))
    while let job = queue.take(upTo: 1).first {
      do {
        let usable = try database ?? open()
        database = usable
        try read(job, on: usable)()
      } catch {
        job.fail(error)
        guard let error = error as? SQLiteError, error.isStorageFailure else { continue }
        failures.add()
        log.error("a read failed", ["path": .string(path), "error": LogValue(error)])
        if error.wantsNewConnection { database = nil }
      }
    }
  }

  private func open() throws(SQLiteError) -> Database {
    try Connection(path: path, mode: .readOnly).database
  }

  /// Runs the job between BEGIN and COMMIT, which makes all its queries see the same state.
  private func read(_ job: ReadJob, on database: Database) throws -> @Sendable () -> Void {
    try database.control("BEGIN")
    let reader = Reader(database)
    defer {
      reader.end()
      // Nothing was written: if COMMIT fails, SQLite has let go of the snapshot by itself.
      if database.isInTransaction { try? database.control("COMMIT") }
    }
    return try job.run(reader)
  }
}
