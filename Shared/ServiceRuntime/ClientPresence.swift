import Synchronization

/// Whether the client still listens on whose behalf a task waits.
///
/// The HTTP server sets it around the handlers of requests that may wait, and of streams; `Waiters` reads
/// it, so that a client that has gone gives up its place in the line at once.
public final class ClientPresence: Sendable {
  /// The client of the task at hand; nil where nobody's leaving ends a wait.
  @TaskLocal public static var current: ClientPresence?

  private struct State {
    var isGone = false
    var next = 0
    var waits: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Mutex(State())

  /// A client that is there.
  public init() {}

  /// The client has gone, or listens no more: every wait for it ends.
  public func left() {
    let waits = state.withLock { state in
      state.isGone = true
      defer { state.waits = [:] }
      return state.waits.values
    }
    for end in waits { end() }
  }

  /// Calls a function when the client leaves, at once if it has left already; gives the number by which
  /// that is called off.
  func onLeaving(_ end: @escaping @Sendable () -> Void) -> Int {
    let number: Int? = state.withLock { state in
      guard !state.isGone else { return nil }
      state.next += 1
      state.waits[state.next] = end
      return state.next
    }
    if number == nil { end() }
    return number ?? 0
  }

  func callOff(_ number: Int) { _ = state.withLock { $0.waits.removeValue(forKey: number) } }
}
