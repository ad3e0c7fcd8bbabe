import CRdkafka
import Synchronization

/// Owns the `rd_kafka_queue_t` from which a consumer's records are taken.
///
/// `@unchecked Sendable` for one pointer, on the word of rdkafka.h: "The API is completely
/// thread-safe"; taking batches needs a single caller, which `Consumer` sees to.
@safe final class ConsumerQueue: @unchecked Sendable {
  private let handle: OpaquePointer
  private let isDestroyed = Atomic<Bool>(false)

  /// Takes the consumer's queue, if the client is a consumer.
  init?(of client: OpaquePointer) {
    guard let queue = unsafe rd_kafka_queue_get_consumer(client) else { return nil }
    unsafe handle = queue
  }

  /// Must run before the client is destroyed; safe to repeat.
  func destroy() {
    guard !isDestroyed.exchange(true, ordering: .acquiringAndReleasing) else { return }
    unsafe rd_kafka_queue_destroy(handle)
  }

  /// Makes a `take` that waits return at once, or the next one that finds nothing.
  func interrupt() { unsafe rd_kafka_queue_yield(handle) }

  /// Takes messages that are there, waiting for the first; each is passed on and then destroyed.
  ///
  /// librdkafka waits until a batch is full or its time is over. So the first message is awaited
  /// alone, and what stands behind it is taken without waiting.
  func take(
    maximum: Int, milliseconds: Int32,
    _ body: (UnsafeMutablePointer<rd_kafka_message_t>) -> Void
  ) {
    unsafe withUnsafeTemporaryAllocation(
      of: UnsafeMutablePointer<rd_kafka_message_t>?.self, capacity: maximum
    ) { messages in
      unsafe messages.initialize(repeating: nil)
      var count = unsafe rd_kafka_consume_batch_queue(
        handle, milliseconds, messages.baseAddress, 1)
      if count == 1 && maximum > 1 {
        let rest = unsafe rd_kafka_consume_batch_queue(
          handle, 0, messages.baseAddress?.advanced(by: 1), maximum - 1)
        count += max(0, rest)
      }
      guard count > 0 else { return }
      // Freed only after all were read: a message keeps its topic's address from being reused.
      for index in 0..<count {
        if let message = unsafe messages[index] { unsafe body(message) }
      }
      for index in 0..<count {
        if let message = unsafe messages[index] { unsafe rd_kafka_message_destroy(message) }
      }
    }
  }
}
