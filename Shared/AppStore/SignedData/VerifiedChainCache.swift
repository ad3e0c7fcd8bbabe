import Cryptography
import Synchronization

/// How the cache of verified chains is doing.
public struct ChainCacheCounts: Sendable, Equatable {
  /// Signatures whose chain was known.
  public var hits: Int64 = 0
  /// Signatures whose chain had to be verified, or was refused.
  public var misses: Int64 = 0
  /// Entries that made room for others.
  public var evictions: Int64 = 0
  /// Entries now.
  public var entries: Int = 0
}

/// Remembers chains that were verified, least recently used out first.
///
/// Refusals are not kept. A chain is found by its header's text first, then by its leaf and intermediate. A header is
/// only remembered once a signature under it stood, and both certificates are signed by the
/// authority above them in strict DER, so a stranger cannot fill the cache with variants.
final class VerifiedChainCache: Sendable {
  private struct Entry {
    let chain: VerifiedChain
    var lastUse: UInt64
  }

  private struct State {
    var entries: [[UInt8]: Entry] = [:]
    var clock: UInt64 = 0
    var counts = ChainCacheCounts()
  }

  private let limit: Int
  private let state = Mutex(State())

  /// Keeps at most `limit` entries, at least one.
  init(limit: Int) { self.limit = max(1, limit) }

  var counts: ChainCacheCounts {
    state.withLock { state in
      var counts = state.counts
      counts.entries = state.entries.count
      return counts
    }
  }

  /// The chain under this key; its dates must be checked again by the caller.
  func find(_ key: [UInt8]) -> VerifiedChain? {
    state.withLock { state in
      state.clock += 1
      guard let index = state.entries.index(forKey: key) else { return nil }
      state.entries.values[index].lastUse = state.clock
      return state.entries.values[index].chain
    }
  }

  func countHit() { state.withLock { $0.counts.hits += 1 } }

  func countMiss() { state.withLock { $0.counts.misses += 1 } }

  func remember(_ chain: VerifiedChain, under key: [UInt8]) {
    state.withLock { state in
      state.clock += 1
      state.entries[key] = Entry(chain: chain, lastUse: state.clock)
      guard state.entries.count > limit,
        let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
      else { return }
      state.entries.removeValue(forKey: oldest.key)
      state.counts.evictions += 1
    }
  }
}
