import CRdkafka
import ServiceRuntime
import Synchronization

/// Where a record was written.
public struct Delivered: Sendable, Equatable {
  /// The partition that the key chose.
  public let partition: Int32
  /// The place in the partition.
  public let offset: Int64

  /// Names a place, as tests need it.
  public init(partition: Int32, offset: Int64) {
    self.partition = partition
    self.offset = offset
  }
}

/// What became of a record.
public typealias DeliveryResult = Result<Delivered, KafkaError>

/// Counts what a producer has under way.
final class DeliveryCounters: Sendable {
  private let outstanding = Atomic<Int>(0)
  private let queued: Gauge
  private let delivered: Counter
  private let failed: Counter
  private let latency: Histogram

  init(client: String, _ metrics: Metrics) {
    let labels = ["client": client]
    queued = metrics.gauge(
      "kafka_producer_queue_records", "Records handed to the producer and not yet reported.",
      labels: labels)
    delivered = metrics.counter(
      "kafka_producer_delivered_total", "Records that the broker has acknowledged.", labels: labels)
    failed = metrics.counter(
      "kafka_producer_failed_total", "Records that were not delivered.", labels: labels)
    latency = metrics.histogram(
      "kafka_producer_delivery_seconds", "From producing a record to its acknowledgement.",
      labels: labels)
  }

  /// Records that still owe a report.
  var underWay: Int { outstanding.load(ordering: .acquiring) }

  func accepted() {
    outstanding.wrappingAdd(1, ordering: .acquiringAndReleasing)
    queued.add(1)
  }

  func withdrawn() {
    outstanding.wrappingSubtract(1, ordering: .acquiringAndReleasing)
    queued.add(-1)
  }

  func reported(_ result: DeliveryResult, microseconds: Int64) {
    switch result {
    case .success:
      delivered.add()
      if microseconds >= 0 { latency.record(.microseconds(microseconds)) }
    case .failure: failed.add()
    }
    withdrawn()
  }
}

/// A record's report, carried through C as the message's opaque: retained once, released once.
final class PendingReport: Sendable {
  private let report: @Sendable (DeliveryResult) -> Void

  init(_ report: @escaping @Sendable (DeliveryResult) -> Void) { self.report = report }

  /// Installs the delivery callback, which finds the report and calls it.
  static func install(in configuration: OpaquePointer) {
    unsafe rd_kafka_conf_set_dr_msg_cb(configuration) { _, message, opaque in
      guard let message = unsafe message, let raw = unsafe message.pointee._private,
        let opaque = unsafe opaque
      else { return }
      let pending = unsafe Unmanaged<PendingReport>.fromOpaque(raw).takeRetainedValue()
      let context = unsafe ClientContext.from(opaque)
      let result = unsafe PendingReport.outcome(of: message.pointee, context)
      pending.report(result)
      context.deliveries.reported(
        result, microseconds: unsafe rd_kafka_message_latency(message))
    }
  }

  fileprivate static func outcome(
    of message: rd_kafka_message_t, _ context: ClientContext
  ) -> DeliveryResult {
    let code = unsafe message.err
    if code == RD_KAFKA_RESP_ERR_NO_ERROR {
      return unsafe .success(Delivered(partition: message.partition, offset: message.offset))
    }
    // What we purge after a fatal fault failed because of that fault.
    let isPurge =
      code == RD_KAFKA_RESP_ERR__PURGE_QUEUE || code == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT
    if isPurge, let fatal = context.fatal { return .failure(fatal) }
    let topic = unsafe text(rd_kafka_topic_name(message.rkt)) ?? ""
    return .failure(KafkaError(code, "record for \(topic) was not delivered"))
  }
}

/// The reports of one `send`, in the order of its records.
final class DeliveryBatch: Sendable {
  private struct State {
    var results: [DeliveryResult?]
    var missing: Int
  }

  private let state: Mutex<State>
  private let complete = Completion<[DeliveryResult]>()

  init(count: Int) {
    state = Mutex(State(results: Array(repeating: nil, count: count), missing: count))
  }

  func report(_ result: DeliveryResult, at index: Int) {
    let all: [DeliveryResult]? = state.withLock { state in
      guard state.results[index] == nil else { return nil }
      state.results[index] = result
      state.missing -= 1
      return state.missing == 0 ? state.results.compactMap { $0 } : nil
    }
    if let all { complete.complete(with: all) }
  }

  func results() async -> [DeliveryResult] { await complete.value() }
}
