import Cryptography
public import Events
public import Kafka
public import SQLite
public import ServiceRuntime
import Synchronization

/// One change of a store: state and outbox rows that become true together, at COMMIT.
///
/// Lives only inside the job that it was handed to.
public struct Change {
  /// The store's transaction.
  public let transaction: Transaction
  /// The time of the change, in UTC milliseconds.
  public let now: Int64
  let context: StoreContext
  /// Which shard the store is.
  public var shard: Shard { context.shard }
  /// What the log of writes will say; nil when no request stands behind the change.
  var audit: AuditNote?
  /// The record that is handled; nil when none stands behind the change.
  var input: InputPlace?
  /// The trace that this change belongs to; what it publishes goes on with it.
  public internal(set) var trace: TraceContext?
  /// Where the way began that leads to what is published; nil when none is measured.
  var wayStart: WayStart?

  /// Puts a record into the outbox; the relay publishes it after COMMIT.
  ///
  /// - Parameters:
  ///   - topic: Where it goes.
  ///   - key: The record's key, usually the customer.
  ///   - type: What it is.
  ///   - subject: The entity that it is about.
  ///   - revision: The entity's own counter or id; with type and subject it makes the event's id, so
  ///     that a repeated event is the same event.
  ///   - payload: The event; nil makes a tombstone.
  ///   - evaluatedAt: For which time it was decided, UTC milliseconds, where a rebuild must know.
  /// - Throws: `OutboxError` for a record that no topic takes; `SQLiteError`.
  public func publish(
    _ topic: Topic, key: String, type: EventType, subject: String,
    revision: some CustomStringConvertible,
    _ payload: (any Encodable)?, evaluatedAt: Int64? = nil
  ) throws {
    try publish(
      topic, key, type, subject, "\(revision)", try payload.map { try EventJSON.encode($0) },
      evaluatedAt)
  }

  /// Does the same with a payload that was encoded before, as where it is stored too.
  ///
  /// - Throws: `OutboxError` for a record that no topic takes; `SQLiteError`.
  public func publish(
    _ topic: Topic, key: String, type: EventType, subject: String,
    revision: some CustomStringConvertible, encoded: [UInt8], evaluatedAt: Int64? = nil
  ) throws {
    try publish(topic, key, type, subject, "\(revision)", encoded, evaluatedAt)
  }

  private func publish(
    _ topic: Topic, _ key: String, _ type: EventType, _ subject: String, _ revision: String,
    _ value: [UInt8]?, _ evaluatedAt: Int64?
  ) throws {
    audit?.published(type.rawValue, subject: subject, key: key)
    let headers = EventHeaders(
      id: EventID.make(type, subject: subject, revision: revision), type: type,
      source: context.source, time: rfc3339(now), subject: subject,
      traceparent: trace?.traceparent)
    let record = Record(
      topic: context.topics.name(of: topic), key: Array(key.utf8), value: value,
      headers: headers.pairs.map { Header(name: $0.name, text: $0.value) }
        + StoreHeaders.all(
          input: input, evaluatedAt: evaluatedAt,
          way: Self.isMeasured(topic) ? wayStart : nil, shard: context.shard))
    try Outbox.insert(self, record)
    tell(topic, key, type, subject, revision)
  }

  /// One line of the log for each event, once it is true; what it holds stays in the topic.
  private func tell(
    _ topic: Topic, _ key: String, _ type: EventType, _ subject: String, _ revision: String
  ) {
    // The state topic repeats what the events said.
    guard context.log.minimumLevel <= .info, topic != .entitlementState else { return }
    let names = topic.logNames(of: type)
    let fields: [String: LogValue] = [
      names.key: .string(key), names.subject: .string(subject), "type": .string(type.rawValue),
      "revision": .string(revision),
    ]
    let (log, trace) = (context.log, trace)
    transaction.afterCommit {
      TraceContext.$current.withValue(trace) { log.info("event", fields) }
    }
  }

  /// Whether the time of the way up to a topic is measured.
  private static func isMeasured(_ topic: Topic) -> Bool {
    switch topic {
    case .transactions, .entitlements: true
    default: false
    }
  }

  /// Takes an erased customer's id out of the log of writes, this change's own entry included.
  ///
  /// - Throws: `SQLiteError`.
  public func forgetInAudit(_ customer: String) throws {
    try AuditLog.forget(transaction, customer)
    audit?.forget(customer)
  }

  /// Drops the records of an erased customer that wait, as their handler failed: what is of somebody who
  /// is gone changes nothing any more.
  ///
  /// - Throws: `SQLiteError`.
  public func forgetWaiting(of customer: String) throws {
    try WaitingRecords.remove(transaction, key: Array(customer.utf8))
  }

  /// Has a record handled at the next start, as one that was read and not dealt with.
  public func putBack(_ record: ReceivedRecord, reason: String) throws {
    try WaitingRecords.insert(transaction, record, reason: reason)
  }

  /// Counts something that this change did; only if it is committed.
  public func count(_ counter: Counter, _ amount: Int = 1) {
    guard amount != 0 else { return }
    transaction.afterCommit { counter.add(amount) }
  }

  /// The same change as if it had been made at another time, for what a rebuild makes anew.
  public func at(_ time: Int64) -> Change {
    Change(
      transaction: transaction, now: time, context: context, audit: audit, input: input,
      trace: trace, wayStart: wayStart)
  }

  /// Says that something falls due, UTC milliseconds; nil says nothing.
  ///
  /// Timers are woken only by what is due before all that they know of. What falls due later than it did
  /// needs no word: they look again when its old time has come.
  public func timersAreDue(at time: Int64?) {
    guard let time else { return }
    let timers = context.timers
    transaction.afterCommit { timers.isDue(at: time) }
  }
}

/// Ids of derived events: the same entity and revision always give the same id.
public enum EventID {
  /// The namespace of Purser's event ids (RFC 9562 §5.5), a random version 4 UUID.
  public static let namespace = "6b0f3c52-9a0e-4c4e-8b71-3f5f2d5d6a11"
  private static let namespaceBytes = UUIDs.namespace(namespace)

  /// UUIDv5 of type, subject and revision.
  public static func make(
    _ type: EventType, subject: String, revision: some CustomStringConvertible
  ) -> String {
    UUIDs.version5(
      namespace: namespaceBytes, name: "\(type.rawValue)\n\(subject)\n\(revision.description)")
  }
}

extension Topic {
  /// What key and subject of its records are called in the log.
  fileprivate func logNames(of type: EventType) -> (key: String, subject: String) {
    switch self {
    case .orders: ("customer", "order")
    case .proofs: ("customer", "proof")
    case .appstore: ("lineage", "fact")
    case .transactions: ("customer", type == .proofDecided ? "proof" : "lineage")
    case .customers, .entitlements, .entitlementState: ("customer", "subject")
    case .deadLetters: ("key", "subject")
    }
  }
}

/// What all changes of one store share.
struct StoreContext: Sendable {
  let source: String
  let shard: Shard
  let topics: TopicNames
  let metrics: Metrics
  var log = Log.silent
  var tracer = Tracer.off
  let outbox = OutboxSignal()
  let timers = TimersSignal()
}
