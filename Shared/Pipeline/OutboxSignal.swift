import SQLite
import ServiceRuntime
import Synchronization

/// Tells the relay that rows were committed: a wake-up, a count by which it knows whether reading again is
/// worth the while, and the rows themselves, so that mostly it need not read them.
final class OutboxSignal: Sendable {
  /// More rows, or more bytes, are not kept for the relay: it reads them when it comes to them.
  static let freshRows = 1024
  static let freshBytes = 4 * 1024 * 1024

  private struct Fresh {
    var rows: [Outbox.Row] = []
    var bytes = 0
  }

  let wake = Wake()
  private let count = Atomic<Int>(0)
  private let newest = Atomic<Int64>(0)
  private let fresh = Mutex(Fresh())

  /// How often rows were committed.
  var changes: Int { count.load(ordering: .acquiring) }

  /// The id of the newest row that was committed; 0 before the first.
  var newestID: Int64 { newest.load(ordering: .acquiring) }

  /// Begins with what an earlier process has left.
  func begin(newestID: Int64) { newest.store(newestID, ordering: .releasing) }

  /// Takes a row in after the COMMIT of its transaction, and signals once for all of that COMMIT.
  func inserted(_ row: Outbox.Row, after transaction: Transaction) {
    transaction.afterCommit { self.keep(row) }
    transaction.afterCommit(key: "relay") {
      self.newest.store(row.id, ordering: .releasing)
      self.count.wrappingAdd(1, ordering: .acquiringAndReleasing)
      self.wake.signal()
    }
  }

  func keep(_ row: Outbox.Row) {
    fresh.withLock { fresh in
      if fresh.rows.count >= Self.freshRows || fresh.bytes + row.bytes > Self.freshBytes {
        fresh = Fresh()
      }
      fresh.rows.append(row)
      fresh.bytes += row.bytes
    }
  }

  /// The committed rows that follow one, without a gap; none where they must be read from the store.
  func takeFresh(after id: Int64) -> [Outbox.Row] {
    fresh.withLock { fresh in
      let behind = fresh.rows.drop { $0.id <= id }
      guard let first = behind.first, first.id == id + 1 else {
        if behind.isEmpty { fresh = Fresh() }
        return []
      }
      // Ids have gaps only where a rebuild left numbers out.
      let line = zip(behind, first.id...).prefix { $0.id == $1 }.map(\.0)
      fresh.rows = Array(behind.dropFirst(line.count))
      fresh.bytes = fresh.rows.reduce(0) { $0 + $1.bytes }
      return line
    }
  }
}
