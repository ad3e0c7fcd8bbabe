public import Synchronization

/// Remembers the most recently used values, within a bound, at constant cost.
///
/// Two generations: what is used moves to the young one; when that is half the bound, it becomes the
/// old one, and what was old and unused is gone.
public final class RecentMemory<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  @usableFromInline struct Generations {
    @usableFromInline var young: [Key: Value] = [:]
    @usableFromInline var old: [Key: Value] = [:]

    @inlinable init() {}
  }

  @usableFromInline let half: Int
  @usableFromInline let generations = Mutex(Generations())

  /// Makes an empty memory.
  public init(limit: Int) { half = max(1, limit / 2) }

  /// Values now, never more than the bound.
  public var count: Int { generations.withLock { $0.young.count + $0.old.count } }

  /// The value, which counts as used.
  @inlinable public subscript(key: Key) -> Value? {
    generations.withLock { generations in Self.take(key, &generations, half) }
  }

  /// Remembers a value.
  @inlinable public func set(_ value: Value, for key: Key) {
    generations.withLock { generations in
      generations.old[key] = nil
      Self.keep(value, key, &generations, half)
    }
  }

  /// Makes the new value of a key from the old one, nil if it is forgotten, and gives back a result.
  ///
  /// The body runs under the lock: keep it short.
  @inlinable public func update<Result>(_ key: Key, _ body: (Value?) -> (Value, Result)) -> Result {
    generations.withLock { generations in
      let (value, result) = body(Self.take(key, &generations, half))
      Self.keep(value, key, &generations, half)
      return result
    }
  }

  /// Forgets a value.
  public func forget(_ key: Key) {
    generations.withLock { generations in
      generations.young[key] = nil
      generations.old[key] = nil
    }
  }

  /// Forgets everything.
  public func forgetAll() { generations.withLock { $0 = Generations() } }

  @inlinable static func take(_ key: Key, _ generations: inout Generations, _ half: Int) -> Value? {
    if let value = generations.young[key] { return value }
    guard let value = generations.old.removeValue(forKey: key) else { return nil }
    keep(value, key, &generations, half)
    return value
  }

  @inlinable static func keep(
    _ value: Value, _ key: Key, _ generations: inout Generations, _ half: Int
  ) {
    if generations.young[key] == nil, generations.young.count >= half {
      generations.old = generations.young
      generations.young = [:]
    }
    generations.young[key] = value
  }
}
