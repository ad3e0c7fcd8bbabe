import ServiceRuntime
import Synchronization

/// Since when the oldest row of an outbox has waited, looked at once a second by the thread `relay`.
final class OutboxAge: Sendable {
  private struct Oldest {
    var id: Int64 = 0
    var at: Int64 = 0
  }

  private static let interval = Duration.seconds(1)

  private let oldest = Mutex(Oldest())
  private let next = Mutex(Deadline.after(.zero))

  /// Looks at the first row behind those that the broker has, unless it was looked at a moment ago.
  func look(_ reader: @autoclosure () throws -> OutboxReader, after id: Int64) throws {
    let isDue = next.withLock { next in
      guard next.hasPassed else { return false }
      next = .after(Self.interval)
      return true
    }
    guard isDue else { return }
    let row = try reader().oldest(after: id)
    oldest.withLock { $0 = row.map { Oldest(id: $0.id, at: $0.timestamp) } ?? Oldest() }
  }

  /// How many seconds ago the oldest row was committed, for a time in UTC milliseconds; 0 without one.
  ///
  /// - Parameter through: All rows up to this id are with the broker by now.
  func seconds(at now: Int64, through: Int64) -> Double {
    let oldest = oldest.withLock { $0 }
    guard oldest.id > through, oldest.at > 0 else { return 0 }
    return Double(max(0, now - oldest.at)) / 1000
  }
}
