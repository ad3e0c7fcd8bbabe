import Synchronization

/// Ends waits whose time has run out, all of the process on the thread `timeouts`.
///
/// A timer of the concurrency runtime costs a task and two jobs of Dispatch for each wait, though hardly any
/// wait runs out. Here a wait is an entry that is mostly taken back before anybody looked at it.
final class Timeouts: Sendable {
  /// How much later than asked for a wait may end.
  static let precision = Duration.milliseconds(20)
  /// The one of the process: the waits that are open bound it.
  static let shared = Timeouts()

  struct Entry: Sendable {
    fileprivate let slot: Int64
    fileprivate let number: Int
  }

  private struct State {
    /// What to do in each slot of `precision`, counted from the start.
    var slots: [Int64: [Int: @Sendable () -> Void]] = [:]
    var number = 0
    /// The slot at which the thread looks next; it may have become empty.
    var planned = Int64.max
    var hasThread = false
  }

  private let began = ContinuousClock.now
  private let state = Mutex(State())
  private let wake = Wake()

  /// Does something, quickly, when a time is over; unless it is taken back.
  func after(_ duration: Duration, _ end: @escaping @Sendable () -> Void) -> Entry {
    // The slot after the one in which it runs out, so that it never ends too early.
    let slot = slot(of: ContinuousClock.now + duration) + 1
    let (entry, isEarlier, needsThread) = state.withLock { state in
      state.number += 1
      state.slots[slot, default: [:]][state.number] = end
      let isEarlier = slot < state.planned
      if isEarlier { state.planned = slot }
      defer { state.hasThread = true }
      return (Entry(slot: slot, number: state.number), isEarlier, !state.hasThread)
    }
    if needsThread {
      _ = DedicatedThread(name: "timeouts") { self.run() }
    } else if isEarlier {
      wake.signal()
    }
    return entry
  }

  /// Takes an entry back; nothing happens when it has ended.
  func cancel(_ entry: Entry) {
    state.withLock { state in
      guard state.slots[entry.slot]?.removeValue(forKey: entry.number) != nil else { return }
      if state.slots[entry.slot]?.isEmpty == true { state.slots[entry.slot] = nil }
    }
  }

  /// How many waits are open.
  var count: Int { state.withLock { $0.slots.values.reduce(0) { $0 + $1.count } } }

  private func run() {
    while true {
      let now = slot(of: ContinuousClock.now)
      let (due, next) = state.withLock { state in
        let slots = state.slots.keys.filter { $0 <= now }
        let due = slots.flatMap { state.slots.removeValue(forKey: $0)?.values.map { $0 } ?? [] }
        state.planned = state.slots.keys.min() ?? .max
        return (due, state.planned)
      }
      for end in due { end() }
      guard due.isEmpty else { continue }
      // With nothing to wait for, until somebody begins to wait.
      wake.wait(atMost: next == .max ? .seconds(3600) : start(of: next) - ContinuousClock.now)
    }
  }

  private func slot(of instant: ContinuousClock.Instant) -> Int64 {
    (instant - began).wholeMilliseconds / Self.precision.wholeMilliseconds
  }

  private func start(of slot: Int64) -> ContinuousClock.Instant {
    began + Self.precision * Int(slot)
  }
}

extension Completion {
  /// Suspends the task until the value is there, at most for a time; then it is completed with `late`.
  ///
  /// A wait may end up to 20 ms later than asked for, never earlier.
  public func value(
    atMost duration: Duration, otherwise late: @escaping @autoclosure @Sendable () -> Value
  ) async -> Value {
    if let value = current { return value }
    let timeout = Timeouts.shared.after(duration) { self.complete(with: late()) }
    defer { Timeouts.shared.cancel(timeout) }
    return await value()
  }

  /// Hands the value to an action, at most after a time; then it is completed with `late`.
  public func whenDone(
    atMost duration: Duration, otherwise late: @escaping @autoclosure @Sendable () -> Value,
    _ action: @escaping @Sendable (Value) -> Void
  ) {
    let timeout = Timeouts.shared.after(duration) { self.complete(with: late()) }
    whenDone { value in
      Timeouts.shared.cancel(timeout)
      action(value)
    }
  }
}
