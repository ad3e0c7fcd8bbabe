import SQLite
import ServiceRuntime
import Synchronization

/// Removes delivered rows without making the relay wait for a COMMIT.
///
/// One removal is under way at a time. Used by the thread `relay`.
final class OutboxRemoval {
  private struct State {
    var isUnderWay = false
    var removed: Int64 = -1
    var hasFailed = false
  }

  /// What the writer's thread answers to.
  private final class Answers: Sendable {
    let state = Mutex(State())
  }

  private let store: Store
  private let log: Log
  private let failures: Counter
  private let answers = Answers()
  private var due: Deadline?
  /// The last row whose removal was asked for.
  private(set) var asked: Int64 = -1

  init(store: Store, log: Log, failures: Counter) {
    self.store = store
    self.log = log
    self.failures = failures
  }

  func begin(through id: Int64) {
    asked = id
    answers.state.withLock { $0.removed = id }
  }

  /// Whether nothing is under way and everything asked for is done.
  var isIdle: Bool {
    let asked = asked
    return due == nil && answers.state.withLock { !$0.isUnderWay && $0.removed >= asked }
  }

  /// The time until the next removal; nil when none is wanted.
  var remaining: Duration? { due?.remaining }

  /// Removes rows when enough are delivered or the first has waited, or `now`.
  func remove(through id: Int64, now: Bool) {
    let (isUnderWay, removed, hasFailed) = answers.state.withLock { state in
      defer { state.hasFailed = false }
      return (state.isUnderWay, state.removed, state.hasFailed)
    }
    if hasFailed {
      asked = removed
      due = .after(.milliseconds(200))
    }
    guard id > asked else { return }
    if due == nil { due = .after(RelaySession.removalDelay) }
    guard !isUnderWay else {
      // The answer wakes the relay.
      if due?.hasPassed == true { due = .after(RelaySession.removalDelay) }
      return
    }
    let isFull = id - asked >= RelaySession.removalCount && !hasFailed
    guard isFull || now && !hasFailed || due?.hasPassed == true else { return }
    asked = id
    due = nil
    send(through: id)
  }

  private func send(through id: Int64) {
    answers.state.withLock { $0.isUnderWay = true }
    let (answers, wake, log, failures) = (answers, store.context.outbox.wake, log, failures)
    store.writer.submit { transaction in
      try Outbox.removeRows(transaction, through: id)
    } answer: { result in
      answers.state.withLock { state in
        state.isUnderWay = false
        switch result {
        case .success: state.removed = id
        case .failure: state.hasFailed = true
        }
      }
      if case .failure(let error) = result {
        failures.add()
        log.warning("delivered rows are not removed yet", ["error": LogValue(error)])
      }
      wake.signal()
    }
  }
}
