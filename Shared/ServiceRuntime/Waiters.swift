import Synchronization

/// Tasks that wait until something about a key changes, bounded in number and time.
public final class Waiters<Key: Hashable & Sendable>: Sendable {
  /// How a wait ended.
  public enum Ending: Sendable, Equatable {
    /// The key was notified.
    case notified
    /// The time ran out.
    case timedOut
    /// The service is stopping: answer with what is known.
    case stopping
    /// Too many wait already; answer at once.
    case refused
  }

  private struct State {
    var waiting: [Key: [Completion<Ending>]] = [:]
    var count = 0
    var isStopping = false
  }

  private let state = Mutex(State())
  private let limit: Int
  private let limitPerKey: Int

  /// Makes a registry.
  ///
  /// - Parameters:
  ///   - limit: How many tasks may wait in all.
  ///   - limitPerKey: How many may wait for one key.
  public init(limit: Int = 10_000, limitPerKey: Int = 16) {
    self.limit = limit
    self.limitPerKey = limitPerKey
  }

  /// How many tasks wait now.
  public var count: Int { state.withLock { $0.count } }

  /// A place in the line, taken before the state is read, so that no change is missed between.
  public struct Ticket: Sendable {
    fileprivate let key: Key
    fileprivate let completion: Completion<Ending>
  }

  /// Takes a place in the line for a key; end it with `wait` or `leave`.
  public func enter(_ key: Key) -> Ticket {
    let completion = Completion<Ending>()
    state.withLock { state in
      if state.isStopping {
        completion.complete(with: .stopping)
      } else if state.count >= limit || state.waiting[key, default: []].count >= limitPerKey {
        completion.complete(with: .refused)
      } else {
        state.waiting[key, default: []].append(completion)
        state.count += 1
      }
    }
    return Ticket(key: key, completion: completion)
  }

  /// Waits until the key is notified, at most for the given time, and leaves the line.
  public func wait(_ ticket: Ticket, atMost duration: Duration) async -> Ending {
    let timer = Task {
      try? await Task.sleep(for: duration)
      ticket.completion.complete(with: .timedOut)
    }
    let ending = await ticket.completion.value()
    timer.cancel()
    leave(ticket)
    return ending
  }

  /// Leaves the line without waiting.
  public func leave(_ ticket: Ticket) {
    state.withLock { state in
      guard var line = state.waiting[ticket.key] else { return }
      let before = line.count
      line.removeAll { $0 === ticket.completion }
      state.count -= before - line.count
      state.waiting[ticket.key] = line.isEmpty ? nil : line
    }
    ticket.completion.complete(with: .stopping)
  }

  /// Wakes everyone who waits for a key.
  public func notify(_ key: Key) {
    let line = state.withLock { state in
      let line = state.waiting.removeValue(forKey: key) ?? []
      state.count -= line.count
      return line
    }
    for completion in line { completion.complete(with: .notified) }
  }

  /// Wakes everyone and lets nobody wait any more.
  public func stopAll() {
    let all = state.withLock { state in
      state.isStopping = true
      defer {
        state.waiting = [:]
        state.count = 0
      }
      return state.waiting.values.flatMap { $0 }
    }
    for completion in all { completion.complete(with: .stopping) }
  }
}
