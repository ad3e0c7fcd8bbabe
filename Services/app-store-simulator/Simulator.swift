import AppStore
import Cryptography
import ServiceRuntime
import Synchronization

/// The books and the mailbox under one short lock, with the clock and the signer beside them.
final class Simulator: Sendable {
  private struct State {
    var ledger: Ledger
    var mailbox: Mailbox
  }

  /// Who waits for what.
  enum Bell: Hashable, Sendable {
    case lane(Int)
    /// An attempt has ended.
    case mail
  }

  /// What a command brought about.
  struct Outcome: Sendable {
    let happening: Happening
    /// The notification about it; nil if none was asked for.
    let notificationUUID: String?
  }

  let clock: SimulatedClock
  let signer: StoreSigner
  let bells = Waiters<Bell>(limit: 1_000, limitPerKey: 100)
  let lanes: Int
  private let state: Mutex<State>
  private let isStopping = Atomic<Bool>(false)
  private let metrics: SimulatorMetrics

  init(
    ledger: Ledger, mailbox: Mailbox, clock: SimulatedClock, signer: StoreSigner, metrics: Metrics
  ) {
    self.clock = clock
    self.signer = signer
    lanes = max(1, mailbox.rules.lanes)
    state = Mutex(State(ledger: ledger, mailbox: mailbox))
    self.metrics = SimulatorMetrics(metrics)
  }

  /// Runs a command that tells of any number of things, each by a notification.
  ///
  /// - Throws: What the command throws, or `MailboxFull` when there is no room for one more.
  @discardableResult
  func performAll(
    _ command: (inout Ledger, Int64) throws -> [Happening]
  ) throws -> [Happening] {
    let happenings = try state.withLock { state in
      let now = clock.now()
      try fire(&state, upTo: now)
      guard state.mailbox.hasRoom else { throw MailboxFull() }
      let happenings = try command(&state.ledger, now)
      for happening in happenings { _ = post(happening, &state) }
      return happenings
    }
    for happening in happenings { metrics.commanded(happening) }
    return happenings
  }

  /// Runs a command at the present time, after all that was due before it.
  ///
  /// - Throws: What the command throws, or `MailboxFull` when a notification would find no room.
  func perform(
    notifies: Bool = true,
    _ command: (inout Ledger, Int64) throws -> Happening
  ) throws -> Outcome {
    let outcome = try state.withLock { state in
      let now = clock.now()
      try fire(&state, upTo: now)
      guard !notifies || state.mailbox.hasRoom else { throw MailboxFull() }
      let happening = try command(&state.ledger, now)
      let uuid = notifies ? post(happening, &state) : nil
      return Outcome(happening: happening, notificationUUID: uuid)
    }
    metrics.commanded(outcome.happening)
    return outcome
  }

  /// Does what is due by then; when something will be due next.
  @discardableResult
  func fire(upTo time: Int64) throws -> Int64? {
    try state.withLock { state in
      try fire(&state, upTo: time)
      return Self.earliest(state.ledger.nextDue, state.mailbox.nextRetry)
    }
  }

  private func fire(_ state: inout State, upTo time: Int64) throws {
    while let due = state.ledger.nextDue, due <= time {
      guard state.mailbox.hasRoom else { throw MailboxFull() }
      let happening = try state.ledger.fireNext()
      _ = post(happening, &state)
      metrics.commanded(happening)
    }
  }

  private func post(_ happening: Happening, _ state: inout State) -> String {
    let uuid = state.mailbox.post(happening)
    bells.notify(.lane(Int(UInt64(happening.lineage) ?? 0) % lanes))
    return uuid
  }

  private static func earliest(_ a: Int64?, _ b: Int64?) -> Int64? {
    guard let a, let b else { return a ?? b }
    return min(a, b)
  }

  /// Looks at the books, after all that was due.
  func read<Value: Sendable>(_ look: (Ledger) throws -> Value) throws -> Value {
    try state.withLock { state in
      try fire(&state, upTo: clock.now())
      return try look(state.ledger)
    }
  }

  /// Looks at the mailbox, or holds it back.
  func mail<Value: Sendable>(_ work: (inout Mailbox) -> Value) -> Value {
    let value = state.withLock { work(&$0.mailbox) }
    for lane in 0..<lanes { bells.notify(.lane(lane)) }
    return value
  }

  /// Whether attempts are to fail without reaching their URL.
  var isOutage: Bool { state.withLock { $0.mailbox.isOutage } }

  func takeDelivery(lane: Int) -> Delivery? {
    state.withLock { $0.mailbox.take(lane: lane, now: clock.now()) }
  }

  /// The signed text of a notification, made at its first use and then always the same.
  func signedPayload(of delivery: Delivery) throws -> String {
    if let signed = delivery.signedPayload { return signed }
    let signed = try signer.sign(delivery.happening, uuid: delivery.uuid)
    return state.withLock { $0.mailbox.keep(signed, of: delivery.number) }
  }

  func record(_ attempt: SendAttempt, of delivery: Delivery) {
    state.withLock { $0.mailbox.record(attempt, of: delivery.number) }
    metrics.attempted(attempt)
    bells.notify(.mail)
  }

  /// Waits until every notification that is due by then was tried, or the simulator stops.
  func quiet(at time: Int64) async {
    while !isStopping.load(ordering: .acquiring), !Task.isCancelled {
      let ticket = bells.enter(.mail)
      for lane in 0..<lanes { bells.notify(.lane(lane)) }
      if state.withLock({ $0.mailbox.isQuiet(at: time) }) {
        bells.leave(ticket)
        return
      }
      _ = await bells.wait(ticket, atMost: .milliseconds(250))
    }
  }
}

extension Simulator {
  /// Lets nobody wait any more.
  func beginStopping() {
    isStopping.store(true, ordering: .releasing)
    bells.stopAll()
  }

  /// - Throws: `Stopping`.
  func checkRunning() throws {
    if isStopping.load(ordering: .acquiring) { throw Stopping() }
  }
}

/// The simulator is being stopped.
struct Stopping: Error {}

/// More notifications wait than the mailbox holds.
struct MailboxFull: Error {}
