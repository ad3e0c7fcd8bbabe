import Kafka
import Synchronization

/// What became of the rows that one producer was given, in the order of the outbox.
///
/// Reports come in any order, on the poll thread; rows may be removed only from the front.
final class DeliveryTracker: Sendable {
  private struct State {
    /// Rows given to the producer whose removal is not yet allowed, in order.
    var given: [Int64] = []
    var delivered: Set<Int64> = []
    var refused: [(id: Int64, error: KafkaError)] = []
    var failure: KafkaError?
    /// All rows up to this id are with the broker.
    var through: Int64
  }

  private let state: Mutex<State>

  init(through: Int64) { state = Mutex(State(through: through)) }

  func gave(_ id: Int64) { state.withLock { $0.given.append(id) } }

  /// The producer did not take the row after all.
  func took(back id: Int64) { state.withLock { $0.given.removeAll { $0 == id } } }

  func delivered(_ id: Int64) {
    state.withLock { state in
      state.delivered.insert(id)
      var count = 0
      while count < state.given.count, state.delivered.remove(state.given[count]) != nil {
        state.through = state.given[count]
        count += 1
      }
      state.given.removeFirst(count)
    }
  }

  /// A row that Kafka will never take.
  func refused(_ id: Int64, _ error: KafkaError) {
    state.withLock { $0.refused.append((id, error)) }
  }

  /// The producer cannot go on; the first failure is kept.
  func failed(_ error: KafkaError) {
    state.withLock { state in
      if state.failure == nil { state.failure = error }
    }
  }

  func takeRefused() -> [(id: Int64, error: KafkaError)] {
    state.withLock { state in
      defer { state.refused = [] }
      return state.refused
    }
  }

  var failure: KafkaError? { state.withLock { $0.failure } }
  var inFlight: Int { state.withLock { $0.given.count } }
  var deliveredThrough: Int64 { state.withLock { $0.through } }
}
