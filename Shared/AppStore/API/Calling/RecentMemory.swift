import Synchronization

/// Remembers the most recently used values, within a bound, at constant cost.
///
/// Two generations: what is used moves to the young one; when that is half the bound, it becomes the
/// old one, and what was old and unused is gone.
final class RecentMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Generations {
    var young: [Key: Value] = [:]
    var old: [Key: Value] = [:]
  }

  private let half: Int
  private let generations = Mutex(Generations())

  init(limit: Int) { half = max(1, limit / 2) }

  /// Values now, never more than the bound.
  var count: Int { generations.withLock { $0.young.count + $0.old.count } }

  subscript(key: Key) -> Value? {
    generations.withLock { generations in
      if let value = generations.young[key] { return value }
      guard let value = generations.old.removeValue(forKey: key) else { return nil }
      keep(value, key, &generations)
      return value
    }
  }

  func set(_ value: Value, for key: Key) {
    generations.withLock { generations in
      generations.old[key] = nil
      keep(value, key, &generations)
    }
  }

  func forget(_ key: Key) {
    generations.withLock { generations in
      generations.young[key] = nil
      generations.old[key] = nil
    }
  }

  private func keep(_ value: Value, _ key: Key, _ generations: inout Generations) {
    if generations.young[key] == nil, generations.young.count >= half {
      generations.old = generations.young
      generations.young = [:]
    }
    generations.young[key] = value
  }
}
