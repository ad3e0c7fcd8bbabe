import Pipeline
import ServiceRuntime
import SQLite

/// Tells those who wait that something moved: requests with `Prefer: wait`, and event streams.
///
/// A key is an order's id, a proof's id, which is told its outcome, or `Notices.restores(of:)`.
struct Notices: Sendable {
  /// Requests that wait for an answer.
  let requests: Waiters<String>
  /// Event streams, which wait much longer and so are counted apart.
  let streams: Waiters<String>

  init(requests: Waiters<String> = Waiters(), streams: Waiters<String> = Waiters()) {
    self.requests = requests
    self.streams = streams
  }

  /// The key under which all restores of a customer wait; no order's id looks like it.
  static func restores(of customer: String) -> String { "restores of \(customer)" }

  /// Wakes those who wait for a key when a change has been committed.
  func tell(_ key: String, after change: Change) {
    change.transaction.afterCommit(key: key) {
      requests.notify(key)
      streams.notify(key)
    }
  }

  /// Wakes everyone, for good.
  func stopAll() {
    requests.stopAll()
    streams.stopAll()
  }
}
