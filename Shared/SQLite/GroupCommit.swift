import ServiceRuntime

/// Puts many jobs into one COMMIT.
///
/// Lives on the writer's thread.
///
/// There is no timer: while one fsync runs, the next group gathers by itself.
struct GroupCommit {
  let metrics: StoreMetrics
  let beforeCommit: (@Sendable (borrowing Connection) throws -> Void)?

  private struct Done {
    var job: WriteJob
    var outcome: Result<@Sendable () -> Void, any Error>
  }

  /// Runs the jobs and answers all of them; all have failed when it throws.
  func run(_ jobs: [WriteJob], on database: Database) throws(SQLiteError) {
    var rest = jobs[...]
    var failure: SQLiteError?
    while !rest.isEmpty {
      do throws(SQLiteError) {
        try runGroup(&rest, on: database)
      } catch {
        failure = error
        // With a connection that is of no more use, the rest would only fail less clearly.
        if error.wantsNewConnection || database.isInTransaction {
          for job in rest { job.fail(error) }
          rest = []
        }
      }
    }
    if let failure { throw failure }
  }

  /// Runs jobs until all are done or the transaction is lost, and answers those that ran.
  private func runGroup(_ rest: inout ArraySlice<WriteJob>, on database: Database)
    throws(SQLiteError)
  {
    var ran: [Done] = []
    ran.reserveCapacity(rest.count)
    var actions: [AfterCommitAction] = []
    do throws(SQLiteError) {
      try database.control("BEGIN IMMEDIATE")
    } catch {
      // Counted before the answers: who hears of a failure finds it in the metrics.
      metrics.storageFailures.add()
      for job in rest { job.fail(error) }
      rest = []
      throw error
    }
    do throws(SQLiteError) {
      let isAlone = rest.count == 1
      while let job = rest.popFirst() {
        ran.append(Done(job: job, outcome: .failure(Transaction.lost)))
        ran[ran.count - 1].outcome = try attempt(job, alone: isAlone, on: database, &actions)
      }
      try finish(ran, on: database)
    } catch {
      if database.isInTransaction { try? database.control("ROLLBACK") }
      metrics.storageFailures.add()
      for done in ran { done.job.fail(error) }
      throw error
    }
    for action in actions.coalesced { action.run() }
    for done in ran {
      switch done.outcome {
      case .success(let answer): answer()
      case .failure(let error):
        metrics.failedJobs.add()
        done.job.fail(error)
      }
    }
  }

  /// Runs one job in a savepoint; throws only when the whole transaction is lost.
  private func attempt(
    _ job: WriteJob, alone: Bool, on database: Database, _ actions: inout [AfterCommitAction]
  ) throws(SQLiteError) -> Result<@Sendable () -> Void, any Error> {
    if !alone { try database.control("SAVEPOINT job") }
    let transaction = Transaction(database)
    let outcome = Result {
      let answer = try job.run(transaction)
      // COMMIT would refuse the whole group for it.
      if database.hasOpenForeignKeys { throw Self.openForeignKeys }
      return answer
    }
    transaction.end()
    guard database.isInTransaction else {
      // What took the transaction away is the better explanation, if the job passed it on.
      if case .failure(let error as SQLiteError) = outcome, error.isStorageFailure { throw error }
      throw Transaction.lost
    }
    switch outcome {
    case .success:
      actions += transaction.actions
    case .failure:
      // A job that is alone is rolled back with its transaction.
      if alone { return outcome }
      try database.control("ROLLBACK TO job")
    }
    if !alone { try database.control("RELEASE job") }
    return outcome
  }

  private static let openForeignKeys = SQLiteError(
    code: .constraintForeignKey,
    message: "the job ended with rows whose foreign keys name rows that are not there")

  /// Commits, unless every job failed and there is nothing to commit.
  private func finish(_ ran: [Done], on database: Database) throws(SQLiteError) {
    let good = ran.count { if case .success = $0.outcome { true } else { false } }
    guard good > 0 else { return try database.control("ROLLBACK") }
    if let beforeCommit {
      do {
        try beforeCommit(Connection(database))
      } catch {
        throw error as? SQLiteError
          ?? SQLiteError(code: .ioError, message: String(describing: error))
      }
    }
    let began = ContinuousClock.now
    try database.control("COMMIT")
    metrics.commitDuration.record(ContinuousClock.now - began)
    metrics.commits.add()
    metrics.committedJobs.add(good)
    metrics.groupSize.record(Double(ran.count))
  }
}
