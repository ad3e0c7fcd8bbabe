import Kafka
import Synchronization

/// What became of the outbox rows that the relay gave away, in the order of the outbox.
///
/// Reports come in any order, on the thread `kafka-poll`; rows may be removed only from the front. It
/// outlives a producer, so that what is known to be delivered up to a row is not sent once more.
final class DeliveryTracker: Sendable {
  /// A row that Kafka refused.
  struct Refusal: Sendable {
    let id: Int64
    let error: KafkaError
    /// Whether it was this row and not another one of its batch: it was refused alone, or at once.
    let isCertain: Bool
  }

  private struct State {
    /// Rows given away whose removal is not yet allowed, in order, from `head` on.
    var given: [Int64] = []
    var head = 0
    /// Rows delivered behind one that is not; none once the producer has failed.
    var ahead: Set<Int64> = []
    /// Rows that still owe a report.
    var open = 0
    var refused: [Refusal] = []
    var failure: KafkaError?
    /// All rows up to this id are with the broker; -1 before the relay has looked.
    var through: Int64 = -1
    var reportsSinceWake = 0

    /// Moves the front over what is delivered.
    mutating func settle(_ id: Int64) {
      guard head < given.count, given[head] == id else {
        if failure == nil { ahead.insert(id) }
        return
      }
      repeat {
        through = given[head]
        head += 1
      } while head < given.count && ahead.remove(given[head]) != nil
      if head == given.count || head >= 4096 {
        given.removeFirst(head)
        head = 0
      }
    }

    /// One wake-up for many reports: the relay has nothing to do that would be urgent before.
    mutating func wakesAfterReport() -> Bool {
      open -= 1
      reportsSinceWake += 1
      guard open == 0 || reportsSinceWake >= 256 else { return false }
      reportsSinceWake = 0
      return true
    }
  }

  private let state = Mutex(State())

  /// Begins with a new producer: what the last one owed is owed no more.
  func forgetProducer() {
    state.withLock { state in
      state.given = []
      state.head = 0
      state.open = 0
      state.refused = []
      state.failure = nil
    }
  }

  /// Everything up to an id is with the broker.
  func begin(through id: Int64) {
    state.withLock { state in
      state.through = max(state.through, id)
      state.ahead = state.ahead.filter { $0 > state.through }
    }
  }

  /// Notes a row that is to be given away; false when it is known to be delivered.
  func give(_ id: Int64) -> Bool {
    state.withLock { state in
      state.given.append(id)
      if state.ahead.remove(id) != nil {
        state.settle(id)
        return false
      }
      state.open += 1
      return true
    }
  }

  /// The producer had no room for the row that was given last.
  func takeBackLast() {
    state.withLock { state in
      state.given.removeLast()
      state.open -= 1
    }
  }

  /// Notes a report; true when the relay should be woken.
  func delivered(_ id: Int64) -> Bool {
    state.withLock { state in
      state.settle(id)
      return state.wakesAfterReport()
    }
  }

  /// Notes that Kafka will not take a row as it was sent.
  func refused(_ refusal: Refusal) {
    state.withLock { state in
      state.open -= 1
      state.refused.append(refusal)
    }
  }

  /// Notes that the producer cannot go on; the first failure is kept.
  ///
  /// What was delivered behind the row that failed has overtaken it. It is sent once more after it, so that
  /// the last record of each key is its newest: a subscriber, and a compacted topic, end right.
  func failed(_ error: KafkaError) {
    state.withLock { state in
      state.open -= 1
      if state.failure == nil { state.failure = error }
      state.ahead = []
    }
  }

  /// A row cannot go out for now, and nothing behind it may.
  func stopped(by error: KafkaError) {
    state.withLock { state in
      if state.failure == nil { state.failure = error }
    }
  }

  /// A refused row has got its dead letter.
  func buried(_ id: Int64) {
    state.withLock { state in
      state.refused.removeAll { $0.id == id }
      state.settle(id)
    }
  }

  /// A refused row is sent again, alone.
  func retries(_ id: Int64) {
    state.withLock { state in
      state.refused.removeAll { $0.id == id }
      state.open += 1
    }
  }

  /// Whether the next row may be given away: nothing was refused or has failed, and not too many are under way.
  var isClear: Bool {
    state.withLock { state in
      state.refused.isEmpty && state.failure == nil
        && state.given.count - state.head < RelaySession.heldLimit
    }
  }

  var refusals: [Refusal] { state.withLock { $0.refused } }
  var failure: KafkaError? { state.withLock { $0.failure } }
  /// Rows that still owe a report.
  var open: Int { state.withLock { $0.open } }
  /// Rows that were given away and may not be removed yet.
  var held: Int { state.withLock { $0.given.count - $0.head } }
  var through: Int64 { state.withLock { $0.through } }
  /// Rows delivered behind one that is not, which a restart need not send again.
  var deliveredAhead: [Int64] { state.withLock { Array($0.ahead) } }
}
