import Kafka
import ServiceRuntime

/// Positions that wait until what their batch published is delivered, and some time more.
///
/// Each commit to Kafka is a round trip that four threads take part in. Only lag metrics and a rebuild read
/// these positions, so a burst of batches shares one.
struct PublishedPositions {
  /// How long the first of them waits for others.
  static let delay = Duration.milliseconds(250)
  /// More than this many batches are folded together.
  private static let limit = 64

  private var waiting: [(outboxID: Int64, positions: [TopicPartition: Int64])] = []
  /// When they should be committed; nil when there are none.
  private(set) var due: Deadline?

  mutating func add(_ positions: [TopicPartition: Int64], outboxID: Int64) {
    if waiting.count >= Self.limit { waiting.removeLast() }
    waiting.append((outboxID, positions))
    if due == nil { due = .after(Self.delay) }
  }

  /// The newest positions of which everything is published, once.
  mutating func take(deliveredThrough: Int64) -> [TopicPartition: Int64]? {
    let index = waiting.lastIndex { $0.outboxID <= deliveredThrough }
    let taken = index.map { waiting[$0].positions }
    if let index { waiting.removeSubrange(...index) }
    due = waiting.isEmpty ? nil : .after(Self.delay)
    return taken
  }
}

/// Positions behind batches in which there was nothing to do: kept in memory, and written with the next
/// batch that changes something, or after a while.
///
/// A service reads topics of which only some types concern it. A COMMIT with its `fdatasync` for each of
/// the others took the disk from those who had something to write.
struct SkippedPositions {
  /// How long a start may at most have to skip again.
  static let delay = Duration.seconds(1)

  private(set) var positions: [TopicPartition: Int64] = [:]
  /// When they should be written; nil when there are none.
  private(set) var due: Deadline?

  mutating func add(_ newer: [TopicPartition: Int64]) {
    positions.merge(newer) { _, new in new }
    if due == nil { due = .after(Self.delay) }
  }

  /// They could not be written now.
  mutating func postpone() { due = .after(Self.delay) }

  /// They have been written.
  mutating func clear() { self = SkippedPositions() }
}
