import Events
import Kafka
import SQLite
import ServiceRuntime

/// The relay's work with one producer, on the thread `relay`.
///
/// A failure of the store does not concern the producer: it is waited out here.
final class RelaySession {
  /// How many rows may be given away and not yet removable.
  static let heldLimit = 8192
  /// Rows and bytes that are read at once.
  static let readRows = 1024
  static let readBytes = 4 * 1024 * 1024
  /// Rows are removed when so many are delivered, or when the first has waited `removalDelay`.
  static let removalCount: Int64 = 512
  static let removalDelay = Duration.milliseconds(50)
  /// The outbox is looked at this often though nobody said that it changed.
  static let longestSleep = Duration.seconds(1)

  private let store: Store
  private let producer: Producer
  private let tracker: DeliveryTracker
  private let age: OutboxAge
  private let log: Log
  private let metrics: RelayMetrics
  private let drainUntil: () -> Deadline?
  private let removal: OutboxRemoval
  private let handover: RelayHandover
  private var reader: OutboxReader?
  /// Read and not yet given to the producer.
  private var rows: ArraySlice<Outbox.Row> = []
  /// The last row that was read.
  private var read: Int64 = -1
  private var mayHaveMore = true
  private var changesSeen = 0
  /// The refused row that is being sent alone.
  private var isTrying = false
  private var isBlocked = false

  init(
    store: Store, producer: Producer, tracker: DeliveryTracker, age: OutboxAge, log: Log,
    metrics: RelayMetrics,
    drainUntil: @escaping () -> Deadline?
  ) {
    self.store = store
    self.producer = producer
    self.tracker = tracker
    self.age = age
    self.log = log
    self.metrics = metrics
    self.drainUntil = drainUntil
    removal = OutboxRemoval(store: store, log: log, failures: metrics.storeFailures)
    handover = RelayHandover(
      producer: producer, tracker: tracker, metrics: metrics, context: store.context,
      clock: store.clock)
  }

  private(set) var hasDelivered = false

  /// Publishes until stopped (nil) or until the producer has failed.
  func run() -> KafkaError? {
    var isReady = false
    tracker.forgetProducer()
    while true {
      if let failure = producer.fatalError ?? tracker.failure { return failure }
      let deadline = drainUntil()
      do {
        if !isReady {
          try begin()
          isReady = true
        }
        try settleRefusals()
        try send()
        try age.look(try outbox(), after: tracker.through)
      } catch {
        metrics.storeFailures.add()
        log.error("the outbox cannot be read or written; trying again", ["error": LogValue(error)])
        reader = nil
        if deadline != nil { return nil }
        store.context.outbox.wake.wait(atMost: .milliseconds(200))
        continue
      }
      let through = tracker.through
      if through > removal.asked { hasDelivered = true }
      removal.remove(through: through, now: deadline != nil)
      if let deadline, deadline.hasPassed || isDone { return nil }
      wait(isStopping: deadline != nil)
    }
  }

  private func begin() throws {
    let first = try outbox().firstUnsent() - 1
    tracker.begin(through: first)
    read = tracker.through
    removal.begin(through: first)
  }

  private func outbox() throws -> OutboxReader {
    if let reader { return reader }
    let opened = try OutboxReader(path: store.path)
    reader = opened
    return opened
  }

  private var isDone: Bool { rows.isEmpty && !mayHaveMore && tracker.held == 0 && removal.isIdle }

  private func wait(isStopping: Bool) {
    let mustWait = isBlocked || (rows.isEmpty && !mayHaveMore) || tracker.held >= Self.heldLimit
    guard mustWait else { return }
    let changes = store.context.outbox.changes
    guard changes == changesSeen || isBlocked || tracker.held >= Self.heldLimit else { return }
    let sleep = isStopping ? Duration.milliseconds(20) : Self.longestSleep
    let began = Deadline.after(sleep)
    let outbox = store.context.outbox
    // Asked for anew: what was committed before the line was open has only signalled.
    if !isStopping && !isBlocked && rows.isEmpty && tracker.isClear {
      outbox.openLine(after: read, handover)
      if outbox.changes != changesSeen {
        read = outbox.closeLine() ?? read
        return
      }
    }
    outbox.wake.wait(atMost: min(removal.remaining ?? sleep, sleep))
    read = outbox.closeLine() ?? read
    if began.hasPassed { mayHaveMore = true }
  }

  /// Gives the next rows to the producer.
  private func send() throws {
    isBlocked = isTrying || !tracker.refusals.isEmpty
    if rows.isEmpty { try readRows() }
    while !isBlocked, tracker.held < Self.heldLimit, let row = rows.first {
      let given = handover.give(row)
      if given != .noRoom {
        rows.removeFirst()
        if rows.isEmpty { try readRows() }
      }
      if given != .given { isBlocked = true }
    }
  }

  /// Mostly what was just committed; from the store what an earlier process or a failed producer left, or
  /// what came faster than it went.
  private func readRows() throws {
    let outbox = store.context.outbox
    let changes = outbox.changes
    guard mayHaveMore || changes != changesSeen else { return }
    let newest = outbox.newestID
    // The writer's thread has handed it over.
    if !mayHaveMore && read >= newest {
      changesSeen = changes
      return
    }
    let fresh = outbox.takeFresh(after: read)
    if let last = fresh.last {
      rows = fresh[...]
      read = last.id
      mayHaveMore = last.id < newest
      changesSeen = changes
      return
    }
    let (found, isAll) = try self.outbox().rows(
      after: read, limit: Self.readRows, bytes: Self.readBytes)
    rows = found[...]
    read = found.last?.id ?? read
    mayHaveMore = !isAll
    changesSeen = changes
  }

  /// Finds out which rows Kafka really refuses, and makes those dead letters.
  ///
  /// A broker refuses a batch as a whole. So when all reports are in, each row of a refused batch is
  /// sent alone, in order; new rows wait until it is clear what becomes of these.
  private func settleRefusals() throws {
    if tracker.open == 0 { isTrying = false }
    let refusals = tracker.refusals.sorted { $0.id < $1.id }
    for refusal in refusals where refusal.isCertain {
      guard try bury(refusal) else {
        tracker.stopped(by: refusal.error)
        return
      }
      tracker.buried(refusal.id)
    }
    guard let suspect = refusals.first(where: { !$0.isCertain }), tracker.open == 0 else { return }
    guard let row = try outbox().rows(after: suspect.id - 1, limit: 1, bytes: 1).rows.first,
      row.id == suspect.id
    else {
      tracker.buried(suspect.id)
      return
    }
    isTrying = true
    handover.retry(row, suspect)
  }

  /// The row and its dead letter change places in one transaction.
  ///
  /// A dead letter that is refused even without its value stays: nothing is dropped, and nothing behind it is
  /// published before its topic is mended.
  ///
  /// - Returns: Whether the row is out of the way.
  private func bury(_ refusal: DeliveryTracker.Refusal) throws -> Bool {
    let row = try outbox().rows(after: refusal.id - 1, limit: 1, bytes: 1).rows.first
    let isBuried = try store.changeAndWait { change in
      if let row, row.id == refusal.id,
        try !DeadLetters.replace(change, row, refusal.error)
      {
        return false
      }
      try Outbox.removeRow(change.transaction, id: refusal.id)
      return true
    }
    metrics.refused.add()
    log.error(
      isBuried
        ? "Kafka refused a record for good; it became a dead letter"
        : "Kafka refuses a dead letter; nothing is published until its topic is mended",
      [
        "row": LogValue(refusal.id), "topic": .string(row?.topic ?? ""),
        "error": LogValue(refusal.error),
      ])
    return isBuried
  }
}
