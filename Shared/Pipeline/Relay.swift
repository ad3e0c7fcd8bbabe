import Events
public import Kafka
public import ServiceRuntime
import SQLite
import Synchronization

/// Publishes the outbox: unsent rows in order, each removed after its delivery report.
///
/// On a failed report or a fatal producer error it replaces the producer and starts again from the
/// first unsent row: what was delivered twice is the same event by its id. It wakes on commit, not
/// on a timer.
public final class Relay: Service {
  /// The name that logs show; also the thread's.
  public let name = "relay"

  static let pauses: [Duration] = [
    .milliseconds(100), .milliseconds(250), .milliseconds(500), .seconds(1), .seconds(2),
  ]
  /// How long `stop` waits for the broker.
  static let drainTime = Duration.seconds(3)

  private let store: Store
  private let makeProducer: @Sendable () throws -> Producer
  private let log: Log
  private let metrics: RelayMetrics
  private let tracker = DeliveryTracker()
  private let age = OutboxAge()
  private let drainUntil = Mutex<Deadline?>(nil)
  private let topicsChecked = Completion<Void>()
  private let ended = Completion<Void>()

  /// Makes the relay of a store.
  ///
  /// - Parameters:
  ///   - store: Whose outbox it publishes.
  ///   - log: Where it speaks.
  ///   - metrics: Where it counts.
  ///   - makeProducer: Makes a producer, at the start and after each failure.
  public init(
    store: Store, log: Log, metrics: Metrics,
    makeProducer: @escaping @Sendable () throws -> Producer
  ) {
    self.store = store
    self.makeProducer = makeProducer
    self.log = log
    self.metrics = RelayMetrics(metrics)
    metrics.reading("outbox_undelivered", "Outbox rows that the broker does not have yet.") {
      [outbox = store.context.outbox, tracker] in
      Int(clamping: max(0, outbox.newestID - max(0, tracker.through)))
    }
    metrics.readings(
      "outbox_oldest_age_seconds", "Since when the oldest of them has waited; 0 without one."
    ) { [clock = store.clock, tracker, age] in
      [Metrics.Reading(age.seconds(at: clock.now(), through: tracker.through))]
    }
  }

  /// All outbox rows up to this id are with the broker; -1 before the relay has looked.
  public var deliveredThrough: Int64 { tracker.through }

  /// Runs until stopped.
  public func run() async {
    let thread = DedicatedThread(name: name) { self.loop() }
    await thread.joined()
    ended.complete(with: ())
  }

  /// Drains the outbox for at most three seconds, or leaves the rows for the next start.
  public func stop(by deadline: Deadline) async {
    drainUntil.withLock { $0 = min(deadline, .after(Self.drainTime)) }
    store.context.outbox.wake.signal()
    await ended.value()
  }

  /// Lets it publish: the topics were found as they must be.
  ///
  /// Before that nothing leaves: a broker that makes topics on demand would make them with settings
  /// of its own, and records that must be kept would go after a week.
  public func topicsAreChecked() { topicsChecked.complete(with: ()) }

  private var isStopping: Bool { drainUntil.withLock { $0 != nil } }

  private func loop() {
    while topicsChecked.wait(by: .after(.milliseconds(200))) == nil {
      if isStopping { return }
      lookAtAge()
    }
    var failures = 0
    while true {
      let failure: any Error
      do {
        let producer = try makeProducer()
        let session = RelaySession(
          store: store, producer: producer, tracker: tracker, age: age, log: log,
          metrics: metrics,
          drainUntil: { self.drainUntil.withLock { $0 } })
        let fault = session.run()
        // After a failure nothing more may leave, or it would overtake the row that failed.
        producer.closeAndWait(by: .after(fault == nil ? .seconds(1) : .zero))
        if session.hasDelivered { failures = 0 }
        guard let fault else { break }
        failure = fault
      } catch {
        failure = error
      }
      metrics.restarts.add()
      log.error("the producer failed and is replaced", ["error": LogValue(failure)])
      pause(Self.pauses[min(failures, Self.pauses.count - 1)])
      failures += 1
      if isStopping { break }
    }
    removeDelivered()
  }

  private func pause(_ duration: Duration) {
    let deadline = Deadline.after(duration)
    while !deadline.hasPassed && !isStopping {
      lookAtAge()
      store.context.outbox.wake.wait(atMost: deadline.remaining)
    }
  }

  /// While there is no session that does.
  private func lookAtAge() {
    try? age.look(try OutboxReader(path: store.path), after: tracker.through)
  }

  /// Removes what the last reports said, so that the next start does not send it again.
  private func removeDelivered() {
    let (through, ahead) = (tracker.through, tracker.deliveredAhead)
    do {
      try store.changeAndWait { change in
        try Outbox.removeRows(change.transaction, through: through)
        for id in ahead { try Outbox.removeRow(change.transaction, id: id) }
      }
    } catch {
      log.warning(
        "delivered rows stay in the outbox; the next start publishes them once more",
        ["error": LogValue(error)])
    }
  }
}
