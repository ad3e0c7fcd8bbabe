import SQLite
import ServiceRuntime
import Synchronization

/// What the writer's thread and the relay share: committed rows go from one to the other here.
///
/// A wake-up, a count by which the relay knows whether reading again is worth the while, and the rows
/// themselves, so that mostly it need not read them. While the relay has nothing to do, its line is open: then
/// the writer's thread gives what it has committed to the producer by itself, which saves a hand-over between
/// threads on each purchase's way. One of the two has the turn, never both, so that rows keep their order.
final class OutboxSignal: Sendable {
  /// More rows, or more bytes, are not kept for the relay: it reads them when it comes to them.
  static let freshRows = 1024
  static let freshBytes = 4 * 1024 * 1024
  /// More rows of one COMMIT are the relay's work: under load, writing is what there is too little time for.
  static let fewRows = 8

  private struct Fresh {
    var rows: [Outbox.Row] = []
    var bytes = 0
  }

  private struct Line {
    /// The last row that was given away.
    var read: Int64
    let handover: RelayHandover
    var isOpen = true
  }

  let wake = Wake()
  private let count = Atomic<Int>(0)
  private let newest = Atomic<Int64>(0)
  private let fresh = Mutex(Fresh())
  private let line = Mutex<Line?>(nil)

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
      if !self.giveFresh() { self.wake.signal() }
    }
  }

  /// Leaves the turn to the writer's thread, for the rows after one.
  func openLine(after id: Int64, _ handover: RelayHandover) {
    line.withLock { $0 = Line(read: id, handover: handover) }
  }

  /// Takes the turn back; the last row that was given away meanwhile, nil if the line was not open.
  func closeLine() -> Int64? {
    line.withLock { line in
      defer { line = nil }
      return line?.read
    }
  }

  /// Gives what was committed to the producer; false when the relay must.
  private func giveFresh() -> Bool {
    line.withLock { line in
      guard var open = line, open.isOpen else { return false }
      defer { line = open }
      open.isOpen = false
      guard fresh.withLock({ $0.rows.count }) <= Self.fewRows else { return false }
      for row in takeFresh(after: open.read) {
        guard open.handover.tracker.isClear, open.handover.give(row) != .noRoom else {
          return false
        }
        open.read = row.id
      }
      open.isOpen = open.read >= newestID && open.handover.tracker.isClear
      return open.isOpen
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
