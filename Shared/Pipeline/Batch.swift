import Events
import Kafka
import SQLite
import ServiceRuntime

/// A polled batch, decoded: what the writer does with it in one job.
struct Batch: Sendable {
  enum Content: Sendable {
    case work(RecordWork)
    case nothing
    case undecodable(Undecodable)
  }

  struct Entry: Sendable {
    let record: ReceivedRecord
    let content: Content
    /// Set for a record that waited: its row goes when the record has been handled.
    var waitingID: Int64?
    /// The step that handling it is in its trace; nil without a trace or a tracer.
    var span: Span?
    /// The trace that it belongs to.
    var trace: TraceContext?
  }

  /// How often a record is tried alone, after it failed with its batch; then it is a dead letter.
  static let tries = 2

  let entries: [Entry]

  /// What happened to a batch.
  struct Result: Sendable {
    /// All of them, whatever became of each.
    var records = 0
    var handled = 0
    var undecodable = 0
    var failed = 0
    var waiting = 0
    /// The newest outbox row at COMMIT: when it is delivered, so is all that the batch published.
    var outboxID: Int64 = 0
    /// How many records wait after this batch; nil when none waited before it nor does since.
    var waitingNow: Int64?
  }

  /// Whether there is nothing to do for any record, so that only positions move.
  var changesNothing: Bool {
    entries.allSatisfy { entry in
      guard entry.waitingID == nil, case .nothing = entry.content else { return false }
      return true
    }
  }

  /// The next offset of each partition after this batch.
  var positions: [TopicPartition: Int64] {
    var positions: [TopicPartition: Int64] = [:]
    for entry in entries where entry.waitingID == nil {
      positions[entry.record.topicPartition] = entry.record.offset + 1
    }
    return positions
  }

  /// A handler failed where no record can be undone alone.
  private struct HandlerFailed: Error {}

  /// Handles every record, and moves the positions, with those that were skipped before; all of it in the
  /// job's transaction.
  ///
  /// First without a savepoint for each record, which costs copies of all pages that it changes; when a
  /// handler fails, all is undone and done again with them.
  ///
  /// - Throws: `SQLiteError` when the store or the disk is at fault: nothing has happened then.
  func apply(
    _ change: Change, after skipped: [TopicPartition: Int64] = [:], log: Log
  ) throws -> Result {
    try InputPositions.set(
      change.transaction, skipped.merging(positions) { _, new in new })
    let isPlain = entries.allSatisfy { entry in
      if case .undecodable = entry.content { false } else { true }
    }
    if isPlain {
      do {
        return try change.transaction.savepoint { try apply(change, log, undoesEach: false) }
      } catch is HandlerFailed {
        // Told below, when it has failed as often as it may.
      }
    }
    return try apply(change, log, undoesEach: true)
  }

  private func apply(_ change: Change, _ log: Log, undoesEach: Bool) throws -> Result {
    var result = Result(records: entries.count)
    // Nobody waits, as a rule: then no record needs to ask.
    var mayWait = try !WaitingRecords.isEmpty(change.transaction)
    for entry in entries {
      if try mayWait && isBehind(entry, change) {
        if entry.waitingID == nil {
          try WaitingRecords.insert(
            change.transaction, entry.record, reason: "behind-a-failed-record")
        }
        result.waiting += 1
      } else if try !handle(entry, change, &result, log, undoesEach: undoesEach) {
        mayWait = true
      }
    }
    result.outboxID = try Outbox.newestID(change.transaction)
    if mayWait { result.waitingNow = try WaitingRecords.count(change.transaction) }
    return result
  }

  /// Whether an older record of the same key waits.
  private func isBehind(_ entry: Entry, _ change: Change) throws -> Bool {
    try WaitingRecords.isWaiting(
      change.transaction, topic: entry.record.topic, key: entry.record.key,
      before: entry.waitingID ?? Int64.max)
  }

  /// False when the handler failed and the record waits.
  private func handle(
    _ entry: Entry, _ change: Change, _ result: inout Result, _ log: Log, undoesEach: Bool
  ) throws -> Bool {
    switch entry.content {
    case .nothing:
      result.handled += 1
    case .undecodable(let fault):
      try DeadLetters.insert(change, entry.record, reason: fault.reason, detail: fault.detail)
      log.error(
        "a record cannot be decoded and became a dead letter",
        entry.fields.merging(["reason": .string(fault.description)]) { old, _ in old })
      result.undecodable += 1
    case .work(let work) where !undoesEach:
      do {
        let own = own(change, entry)
        try TraceContext.$current.withValue(own.trace) { try work(own) }
      } catch let error as SQLiteError where error.isStorageFailure {
        throw error
      } catch {
        throw HandlerFailed()
      }
      result.handled += 1
    case .work(let work):
      if let fault = try attempt(work, own(change, entry)) {
        try fail(entry, fault, change, log)
        result.failed += 1
        return false
      }
      result.handled += 1
    }
    if let id = entry.waitingID { try WaitingRecords.remove(change.transaction, id: id) }
    return true
  }

  /// The change on behalf of one record: what it publishes says which record it came of.
  private func own(_ change: Change, _ entry: Entry) -> Change {
    var own = change
    own.input = InputPlace(entry.record)
    own.trace = entry.trace
    return own
  }

  /// The handler's own fault, if it failed at every try.
  private func attempt(_ work: RecordWork, _ change: Change) throws -> (any Error)? {
    var fault: (any Error)?
    for _ in 0..<Self.tries {
      do {
        try change.transaction.savepoint {
          try TraceContext.$current.withValue(change.trace) { try work(change) }
        }
        return nil
      } catch let error as SQLiteError where error.isStorageFailure {
        throw error
      } catch {
        fault = error
      }
    }
    return fault
  }

  /// A dead letter for people, and the record itself for the day on which the handler is mended.
  private func fail(_ entry: Entry, _ fault: any Error, _ change: Change, _ log: Log) throws {
    let fields = entry.fields.merging(["error": LogValue(fault)]) { old, _ in old }
    guard entry.waitingID == nil else {
      // It stays where it is; its dead letter was written when it failed first.
      return log.warning("a handler failed again; the record and its key wait on", fields)
    }
    log.error("a handler failed; the record became a dead letter and its key waits", fields)
    try DeadLetters.insert(
      change, entry.record, reason: "handler-failed", detail: String(describing: fault))
    try WaitingRecords.insert(change.transaction, entry.record, reason: "handler-failed")
  }
}

extension Batch.Entry {
  var fields: [String: LogValue] {
    [
      "topic": .string(record.topic), "partition": LogValue(record.partition),
      "offset": LogValue(record.offset),
    ]
  }
}
