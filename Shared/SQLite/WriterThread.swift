import ServiceRuntime
import Synchronization

/// The life of the writer's thread: it owns the lock and the connection from opening to closing.
struct WriterThread: Sendable {
  let path: String
  let store: String
  let migrations: [Migration]
  let applicationID: Int32?
  let groupLimit: Int
  let queue: JobQueue<WriteJob>
  let group: GroupCommit
  let log: Log

  /// Opens the store, says how that went, and then writes until the queue is closed and empty.
  func run(_ opened: Completion<Result<Void, SQLiteError>>) {
    do throws(SQLiteError) {
      let lock = try StoreLock(store: path)
      let database = try open()
      opened.complete(with: .success(()))
      write(consume database)
      // Held until the connection has been closed.
      _ = consume lock
    } catch {
      opened.complete(with: .failure(error))
    }
  }

  private func open() throws(SQLiteError) -> Database {
    let database = try Connection(path: path, mode: .readWrite).database
    if let applicationID {
      try Migrator.identify(database, path: path, applicationID: applicationID)
    }
    try Migrator.migrate(database, path: path, migrations)
    return database
  }

  /// Owns the connection, so that it is closed when this returns or when it is opened anew.
  private func write(_ first: consuming Database) {
    var database: Database? = consume first
    var isFailing = false
    while true {
      let jobs = queue.take(upTo: groupLimit)
      if jobs.isEmpty { break }
      do throws(SQLiteError) {
        let usable = if let database { database } else { try reopen(jobs) }
        database = usable
        try group.run(jobs, on: usable)
        if isFailing { log.info("the store can be written again", ["store": .string(store)]) }
        isFailing = false
      } catch {
        if !isFailing {
          log.error(
            "the store cannot be written; writes fail until it can",
            ["store": .string(store), "path": .string(path), "error": LogValue(error)])
        }
        isFailing = true
        // A connection with an open transaction, or one whose file failed, is of no more use.
        if error.wantsNewConnection || database?.isInTransaction == true { database = nil }
      }
    }
    if let database { checkpoint(database) }
  }

  private func reopen(_ jobs: [WriteJob]) throws(SQLiteError) -> Database {
    do throws(SQLiteError) {
      return try open()
    } catch {
      group.metrics.storageFailures.add()
      for job in jobs { job.fail(error) }
      throw error
    }
  }

  /// Moves the write-ahead log into the store, so that the next start has nothing to recover.
  private func checkpoint(_ database: Database) {
    // A reader that is still at work keeps a part of the log; that is no reason to wait long.
    database.setBusyTimeout(milliseconds: 500)
    do throws(SQLiteError) {
      _ = try database.controlValue("PRAGMA wal_checkpoint(TRUNCATE)")
    } catch {
      log.warning(
        "the log of the store could not be moved into it; the next start does it",
        ["store": .string(store), "error": LogValue(error)])
    }
  }
}
