import Synchronization

/// What happened in many lives, and which spends were decided.
final class LifeTally: Sendable {
  /// A spend that was covered, as it was asked for.
  struct SpendRequest: Sendable {
    let customer: String
    let body: String
    let key: String
  }

  private struct State {
    var counts: [String: Int] = [:]
    var spends: [SpendRequest] = []
  }

  private let state = Mutex(State())

  func count(_ deed: String) { state.withLock { $0.counts[deed, default: 0] += 1 } }

  func spent(_ request: SpendRequest) {
    state.withLock { state in
      state.counts["spends", default: 0] += 1
      state.spends.append(request)
    }
  }

  /// How often each deed happened.
  var counts: [String: Int] { state.withLock { $0.counts } }

  /// All spends that were covered.
  var spends: [SpendRequest] { state.withLock { $0.spends } }
}
