import CRdkafka
import Synchronization

/// Keeps librdkafka fetching while a backlog is read.
///
/// When its queue is full, librdkafka 2.0.2 lets the broker's thread sleep for a second, and nothing
/// wakes it when the queue has been emptied (`fetch.queue.backoff.ms` came with 2.2). A reader that
/// is faster than a queue a second would stand still for the rest. So after each part of a queue
/// a cheap request goes to the brokers, which wakes their threads. At the end of the log nothing is
/// sent: there a fetch waits at the broker, and the request would wait behind it.
final class FetchNudge: Sendable {
  private struct State {
    var partitions: [TopicPartition] = []
    var records = 0
    var bytes = 0
  }

  /// librdkafka also counts what it needs per record, so small records fill a queue sooner.
  private static let recordsPerNudge = 5_000
  private static let patienceMilliseconds: Int32 = 100
  private let bytesPerNudge: Int
  private let state = Mutex(State())

  init(queueBytesLimit: Int) { bytesPerNudge = queueBytesLimit / 4 }

  func assigned(_ partitions: some Sequence<TopicPartition>) {
    state.withLock { $0 = State(partitions: Array(partitions)) }
  }

  func took(records: Int, bytes: Int) {
    state.withLock { state in
      state.records += records
      state.bytes += bytes
    }
  }

  /// Sends the request if a part of the queue was read and as much is left.
  ///
  /// - Parameter left: The number of records that still stand in the queue.
  func runIfDue(on handle: OpaquePointer, left: () -> Int) {
    let read: State? = state.withLock { state in
      guard state.records >= Self.recordsPerNudge || state.bytes >= bytesPerNudge else {
        return nil
      }
      defer {
        state.records = 0
        state.bytes = 0
      }
      return state
    }
    guard let read else { return }
    let left = left()
    let bytesLeft = left * read.bytes / max(1, read.records)
    guard left >= Self.recordsPerNudge || bytesLeft >= bytesPerNudge else { return }
    let partitions = read.partitions
    guard !partitions.isEmpty else { return }
    // Asks where the logs end: one request to each leader. Only the waking counts.
    let list = PositionList(partitions.map { (key: $0, value: Consumer.end) })
    _ = unsafe list.withPointer { list in
      unsafe rd_kafka_offsets_for_times(handle, list, Self.patienceMilliseconds)
    }
  }
}
