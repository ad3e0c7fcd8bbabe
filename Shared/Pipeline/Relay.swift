public import Kafka
public import ServiceRuntime
import SQLite
import Synchronization

/// Publishes the outbox: unsent rows in order, each removed after its delivery report.
///
/// On a failed report or a fatal producer error it replaces the producer and starts again from the
/// first row that is still there: what was delivered twice is the same event by its id. It wakes on
/// commit, not on a timer.
public final class Relay: Service {
  /// The name that logs show; also the thread's.
  public let name = "relay"

  /// How many rows may be with the producer at once.
  static let inFlightLimit = 8192
  /// Rows are removed when so many are delivered, or when the oldest has waited `removalDelay`.
  static let removalCount: Int64 = 512
  static let removalDelay = Duration.milliseconds(50)
  static let pauses: [Duration] = [
    .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2),
  ]

  private let store: Store
  private let makeProducer: @Sendable () throws -> Producer
  private let log: Log
  private let stopping = Atomic<Bool>(false)
  private let drainUntil = Mutex<Deadline?>(nil)
  private let through = Atomic<Int64>(-1)
  private let ended = Completion<Void>()
  private let delivered: Counter
  private let restarts: Counter
  private let refused: Counter
  private let progress: Mutex<(@Sendable () -> Void)?> = Mutex(nil)

  /// Makes the relay of a store.
  ///
  /// - Parameters:
  ///   - store: Whose outbox it publishes.
  ///   - makeProducer: Makes a producer, at the start and after each failure.
  ///   - log: Where it speaks.
  ///   - metrics: Where it counts.
  public init(
    store: Store, log: Log, metrics: Metrics,
    makeProducer: @escaping @Sendable () throws -> Producer
  ) {
    self.store = store
    self.makeProducer = makeProducer
    self.log = log
    delivered = metrics.counter("relay_delivered_total", "Outbox rows that the broker has.")
    restarts = metrics.counter("relay_restarts_total", "Times the producer was replaced.")
    refused = metrics.counter(
      "relay_refused_total", "Outbox rows that Kafka refused for good; each is a dead letter.")
    metrics.reading("outbox_undelivered", "1 when the outbox holds rows to be delivered.") {
      [weak self] in
      guard let self else { return 0 }
      return isDrained ? 0 : 1
    }
  }

  /// All outbox rows up to this id are with the broker; -1 before the relay has looked.
  public var deliveredThrough: Int64 { through.load(ordering: .acquiring) }

  /// Whether every row that was committed is delivered, as far as the relay has seen.
  private var isDrained: Bool {
    ((try? store.newestOutboxID()) ?? Int64.max) <= deliveredThrough
  }

  /// Calls back after each progress of `deliveredThrough`, on the thread `relay`.
  func onProgress(_ action: @escaping @Sendable () -> Void) {
    progress.withLock { $0 = action }
  }

  /// Runs until stopped.
  public func run() async {
    let thread = DedicatedThread(name: name) { self.loop() }
    await thread.joined()
    ended.complete(with: ())
  }

  /// Drains the outbox for at most three seconds, or leaves the rows for the next start.
  public func stop(by deadline: Deadline) async {
    drainUntil.withLock { $0 = min(deadline, .after(.seconds(3))) }
    stopping.store(true, ordering: .releasing)
    store.context.relayWake.signal()
    await ended.value()
  }

  private var isStopping: Bool { stopping.load(ordering: .acquiring) }

  private var drainIsOver: Bool { drainUntil.withLock { $0?.hasPassed ?? false } }

  private func loop() {
    var failures = 0
    while !(isStopping && (drainIsOver || failures > 0)) {
      do {
        let producer = try makeProducer()
        let error = try publish(with: producer) { failures = 0 }
        producer.closeAndWait(by: .after(.seconds(1)))
        guard let error else { return }
        restarts.add()
        log.error("the producer failed and is replaced", ["error": LogValue(error)])
      } catch {
        log.error("the relay cannot work and tries again", ["error": LogValue(error)])
      }
      pause(Self.pauses[min(failures, Self.pauses.count - 1)])
      failures += 1
    }
  }

  private func pause(_ duration: Duration) {
    let deadline = Deadline.after(duration)
    while !deadline.hasPassed && !isStopping {
      store.context.relayWake.wait(atMost: deadline.remaining)
    }
  }

  /// Publishes until stopped (nil) or until the producer has failed.
  private func publish(with producer: Producer, _ succeeded: () -> Void) throws -> KafkaError? {
    let first = try store.readers.readAndWait { reader in
      try Outbox.oldestID(reader).map { $0 - 1 } ?? Outbox.newestID(reader)
    }
    let tracker = DeliveryTracker(through: first)
    var sent = first
    var removed = first
    var removalDue: Deadline?
    advance(to: first)

    while true {
      if let failure = producer.fatalError ?? tracker.failure { return failure }
      for (id, error) in tracker.takeRefused() {
        try moveToDeadLetters(id, error)
        tracker.delivered(id)
      }
      let read = try send(with: producer, tracker, after: &sent)

      let through = tracker.deliveredThrough
      if through > removed {
        succeeded()
        advance(to: through)
        if removalDue == nil { removalDue = .after(Self.removalDelay) }
        if through - removed >= Self.removalCount || removalDue?.hasPassed ?? false || isStopping {
          try remove(through: through)
          delivered.add(Int(through - removed))
          removed = through
          removalDue = nil
        }
      }
      if isStopping && (drainIsOver || (read == 0 && tracker.inFlight == 0 && through == removed)) {
        return nil
      }
      if read == 0 || tracker.inFlight >= Self.inFlightLimit {
        store.context.relayWake.wait(
          atMost: removalDue?.remaining ?? (isStopping ? .milliseconds(20) : .seconds(1)))
      }
    }
  }

  private func advance(to id: Int64) {
    guard through.exchange(id, ordering: .acquiringAndReleasing) != id else { return }
    progress.withLock { $0 }?()
  }

  /// Gives the next rows to the producer; returns how many there were.
  private func send(with producer: Producer, _ tracker: DeliveryTracker, after sent: inout Int64)
    throws -> Int
  {
    let room = Self.inFlightLimit - tracker.inFlight
    guard room > 0 else { return 0 }
    let after = sent
    let rows = try store.readers.readAndWait { reader in
      try Outbox.rows(reader, after: after, limit: min(room, 1024))
    }
    let wake = store.context.relayWake
    for row in rows {
      let id = row.id
      do throws(KafkaError) {
        tracker.gave(id)
        try producer.enqueue(row.record) { result in
          switch result {
          case .success: tracker.delivered(id)
          case .failure(let error) where error.isRetriable || error.isFatal: tracker.failed(error)
          case .failure(let error): tracker.refused(id, error)
          }
          wake.signal()
        }
      } catch {
        if error.code == .queueFull {
          tracker.took(back: id)
          wake.wait(atMost: .milliseconds(50))
          return rows.count
        }
        if error.isRetriable || error.isFatal { tracker.failed(error) } else { tracker.refused(id, error) }
        wake.signal()
      }
      sent = id
    }
    return rows.count
  }

  private func remove(through id: Int64) throws {
    try store.changeAndWait { change in
      try Outbox.removeRows(change.transaction, through: id)
    }
  }

  /// The row and its dead letter change places in one transaction.
  private func moveToDeadLetters(_ id: Int64, _ error: KafkaError) throws {
    refused.add()
    log.error(
      "Kafka refused a record for good; it became a dead letter",
      ["row": LogValue(id), "error": LogValue(error)])
    let row = try store.readers.readAndWait { reader in
      try Outbox.rows(reader, after: id - 1, limit: 1).first { $0.id == id }
    }
    try store.changeAndWait { change in
      if let row, row.record.topic != change.context.topics.name(of: .deadLetters) {
        try DeadLetters.insert(
          change, key: row.record.key, value: row.record.value, headers: row.record.headers,
          reason: "refused-by-kafka", detail: error.description,
          origin: ["topic": row.record.topic])
      }
      try Outbox.removeRow(change.transaction, id: id)
    }
  }
}

extension Store {
  /// The id of the newest outbox row ever inserted. Blocks: for threads of ours, and for `/metrics`.
  func newestOutboxID() throws -> Int64 {
    try readers.readAndWait { reader in try Outbox.newestID(reader) }
  }
}
