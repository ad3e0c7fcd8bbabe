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
    /// Whoever was to be answered has gone.
    case left
    /// Too many wait already; answer at once.
    case refused
  }

  private struct State {
    var waiting: [Key: [Ticket]] = [:]
    var groups: [String: Int] = [:]
    var count = 0
    var isStopping = false

    mutating func add(_ amount: Int, to group: String) {
      count += amount
      let members = groups[group, default: 0] + amount
      groups[group] = members == 0 ? nil : members
    }
  }

  private let state = Mutex(State())
  private let limit: Int
  private let limitPerKey: Int
  private let limitPerGroup: Int

  /// Makes a registry.
  ///
  /// - Parameters:
  ///   - limit: How many tasks may wait in all.
  ///   - limitPerKey: How many may wait for one key.
  ///   - limitPerGroup: How many of one group may wait, such as a customer.
  public init(limit: Int = 512, limitPerKey: Int = 8, limitPerGroup: Int = 16) {
    self.limit = limit
    self.limitPerKey = limitPerKey
    self.limitPerGroup = limitPerGroup
  }

  /// How many tasks wait now.
  public var count: Int { state.withLock { $0.count } }

  /// A place in the line, taken before the state is read, so that no change is missed between.
  public struct Ticket: Sendable {
    fileprivate let key: Key
    fileprivate let group: String
    fileprivate let completion: Completion<Ending>
  }

  /// Takes a place in the line for a key; end it with `wait` or `leave`.
  ///
  /// A place that the bounds refuse ends its wait at once with `refused`.
  public func enter(_ key: Key, group: String = "") -> Ticket {
    let ticket = Ticket(key: key, group: group, completion: Completion<Ending>())
    let refusal: Ending? = state.withLock { state in
      if state.isStopping { return .stopping }
      guard state.count < limit, state.waiting[key, default: []].count < limitPerKey,
        group.isEmpty || state.groups[group, default: 0] < limitPerGroup
      else { return .refused }
      state.waiting[key, default: []].append(ticket)
      state.add(1, to: group)
      return nil
    }
    if let refusal { ticket.completion.complete(with: refusal) }
    return ticket
  }

  /// Waits until the key is notified, at most for the given time and as long as the client of the task
  /// listens, and leaves the line.
  public func wait(_ ticket: Ticket, atMost duration: Duration) async -> Ending {
    let presence = ClientPresence.current
    let number = presence?.onLeaving { ticket.completion.complete(with: .left) }
    defer { if let number { presence?.callOff(number) } }
    let ending = await ticket.completion.value(atMost: duration, otherwise: .timedOut)
    leave(ticket)
    return ending
  }

  /// Leaves the line without waiting.
  public func leave(_ ticket: Ticket) {
    state.withLock { state in
      guard var line = state.waiting[ticket.key],
        let place = line.firstIndex(where: { $0.completion === ticket.completion })
      else { return }
      line.remove(at: place)
      state.waiting[ticket.key] = line.isEmpty ? nil : line
      state.add(-1, to: ticket.group)
    }
    ticket.completion.complete(with: .stopping)
  }

  /// Wakes everyone who waits for a key.
  public func notify(_ key: Key) {
    let line = state.withLock { state in
      let line = state.waiting.removeValue(forKey: key) ?? []
      for ticket in line { state.add(-1, to: ticket.group) }
      return line
    }
    for ticket in line { ticket.completion.complete(with: .notified) }
  }

  /// Wakes everyone and lets nobody wait any more.
  public func stopAll() {
    let all = state.withLock { state in
      state.isStopping = true
      defer {
        state.waiting = [:]
        state.groups = [:]
        state.count = 0
      }
      return state.waiting.values.flatMap { $0 }
    }
    for ticket in all { ticket.completion.complete(with: .stopping) }
  }
}
