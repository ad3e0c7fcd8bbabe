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
  }

  /// What a handler's own fault costs: so many tries, then a dead letter.
  static let tries = 3

  let entries: [Entry]

  /// What happened to a batch.
  struct Result: Sendable {
    var handled = 0
    var undecodable = 0
    var failed = 0
    var waiting = 0
    /// The newest outbox row at COMMIT: when it is delivered, so is all that the batch published.
    var outboxID: Int64 = 0
  }

  /// The next offset of each partition after this batch.
  var positions: [TopicPartition: Int64] {
    var positions: [TopicPartition: Int64] = [:]
    for entry in entries where entry.waitingID == nil {
      positions[TopicPartition(topic: entry.record.topic, partition: entry.record.partition)] =
        entry.record.offset + 1
    }
    return positions
  }

  /// Handles every record, and moves the positions; all of it in the job's transaction.
  ///
  /// - Throws: `SQLiteError` when the store or the disk is at fault: nothing has happened then.
  func apply(_ change: Change, log: Log) throws -> Result {
    var result = Result()
    var failedKeys: Set<WaitingKey> = []
    for entry in entries {
      let key = WaitingKey(topic: entry.record.topic, key: entry.record.key)
      guard !failedKeys.contains(key) else { continue }
      if entry.waitingID == nil,
        try WaitingRecords.isWaiting(
          change.transaction, topic: entry.record.topic, key: entry.record.key)
      {
        try WaitingRecords.insert(change.transaction, entry.record, reason: "behind-a-failed-record")
        result.waiting += 1
        continue
      }
      switch entry.content {
      case .nothing:
        result.handled += 1
      case .undecodable(let fault):
        try DeadLetters.insert(
          change, entry.record, reason: fault.reason, detail: fault.detail)
        log.error(
          "a record cannot be decoded and became a dead letter",
          entry.fields.merging(["reason": .string(fault.description)]) { old, _ in old })
        result.undecodable += 1
      case .work(let work):
        if try !handle(entry, work, change, &result, log) && entry.waitingID != nil {
          failedKeys.insert(key)
        }
      }
    }
    try InputPositions.set(change.transaction, positions)
    result.outboxID = try Outbox.newestID(change.transaction)
    return result
  }

  private struct WaitingKey: Hashable {
    let topic: String
    let key: [UInt8]?
  }

  /// True when the handler took the record.
  private func handle(
    _ entry: Entry, _ work: RecordWork, _ change: Change, _ result: inout Result, _ log: Log
  ) throws -> Bool {
    var fault: any Error
    var attempt = 1
    repeat {
      do {
        try change.transaction.savepoint { try work(change) }
        if let id = entry.waitingID { try WaitingRecords.remove(change.transaction, id: id) }
        result.handled += 1
        return true
      } catch let error as SQLiteError where error.isStorageFailure {
        throw error
      } catch {
        fault = error
        attempt += 1
      }
    } while attempt <= Self.tries

    result.failed += 1
    // A record that waited and fails again stays where it is; its dead letter is already written.
    guard entry.waitingID == nil else { return false }
    log.error(
      "a handler failed; the record became a dead letter and its key waits",
      entry.fields.merging(["error": LogValue(fault)]) { old, _ in old })
    try DeadLetters.insert(
      change, entry.record, reason: "handler-failed", detail: String(describing: fault))
    try WaitingRecords.insert(change.transaction, entry.record, reason: "handler-failed")
    return false
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
