/// A notification and what became of it.
struct Delivery: Sendable {
  /// Where it stands.
  enum State: String, Sendable, Encodable {
    /// The first attempt is to come.
    case waiting
    /// An attempt is under way.
    case sending
    /// An attempt failed, another one follows.
    case retrying
    case delivered
    /// The last attempt failed.
    case failed
    /// There is no URL to deliver to.
    case unsent
  }

  /// Counts all notifications.
  let number: UInt64
  let uuid: String
  let happening: Happening
  let lane: Int
  var state = State.waiting
  /// Made once, at the first attempt: retries repeat it byte by byte.
  var signedPayload: String?
  var attempts: [SendAttempt] = []
  /// When the next attempt is due, while retrying.
  var nextAttempt: Int64?

  var isSettled: Bool { state == .delivered || state == .failed || state == .unsent }
}
