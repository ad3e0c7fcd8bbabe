import ServiceRuntime
import Synchronization

/// Lets those who met a full queue wait until reports have made room.
final class ProducerRoom: Sendable {
  private struct State {
    var changes: UInt64 = 0
    var next = Completion<Void>()
    var isWatched = false
  }

  private let state = Mutex(State())

  /// How often room was made; take it before the attempt that may meet a full queue.
  var changes: UInt64 { state.withLock { $0.changes } }

  /// Suspends until room was made after the given count.
  func changed(since seen: UInt64) async {
    let next: Completion<Void>? = state.withLock { state in
      guard state.changes == seen else { return nil }
      state.isWatched = true
      return state.next
    }
    await next?.value()
  }

  /// Wakes everyone who waits.
  func advance() {
    let waiting: Completion<Void>? = state.withLock { state in
      state.changes &+= 1
      guard state.isWatched else { return nil }
      defer {
        state.next = Completion()
        state.isWatched = false
      }
      return state.next
    }
    waiting?.complete(with: ())
  }
}
