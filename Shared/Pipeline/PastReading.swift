import Kafka
import ServiceRuntime
import Synchronization

/// How far each partition was read, and who waits for it: what lets a timer speak (design law 11).
final class ReadingProgress: Sendable {
  private struct State {
    var positions: [TopicPartition: Int64] = [:]
    var changed = Completion<Void>()

    func isRead(_ ends: [TopicPartition: Int64]) -> Bool {
      ends.allSatisfy { partition, end in positions[partition, default: 0] >= end }
    }
  }

  private let state = Mutex(State())

  var positions: [TopicPartition: Int64] { state.withLock { $0.positions } }

  func advance(_ positions: [TopicPartition: Int64]) {
    let changed = state.withLock { state in
      state.positions.merge(positions) { max($0, $1) }
      let changed = state.changed
      state.changed = Completion()
      return changed
    }
    changed.complete(with: ())
  }

  /// Whether every partition was read up to its end.
  func isRead(_ ends: [TopicPartition: Int64]) -> Bool {
    state.withLock { $0.isRead(ends) }
  }

  /// Blocks until every partition was read up to its end, or until the deadline (false).
  func waitUntilRead(_ ends: [TopicPartition: Int64], by deadline: Deadline) -> Bool {
    while true {
      let (isRead, changed) = state.withLock { ($0.isRead(ends), $0.changed) }
      if isRead { return true }
      guard changed.wait(by: deadline) != nil else { return false }
    }
  }
}
