import Kafka
import ServiceRuntime
import SQLite
import Synchronization

extension Processor {
  /// Shows how far reading is behind, by what the client has heard already: nobody is asked.
  func showLag(_ metrics: Metrics) {
    metrics.readings(
      "processor_lag_records",
      "Records of an input that are not read yet, as of the last answer of the broker."
    ) { [weak self] in
      guard let self, let consumer = self.consumer.withLock({ $0 }) else { return [] }
      return self.progress.positions.compactMap { partition, position in
        consumer.knownEnd(of: partition).map { end in
          Metrics.Reading(
            Double(max(0, end - position)),
            labels: ["topic": partition.topic, "partition": "\(partition.partition)"])
        }
      }
    }
  }
}

/// What a processor counts.
struct ProcessorMetrics: Sendable {
  let handled: Counter
  let deadLetters: Counter
  let failures: Counter
  let waiting: Counter
  let storeFailures: Counter
  let pollFailures: Counter
  let relayWaits: Counter
  let waitingNow: Gauge
  let batchSeconds: Histogram
  let batchSize: Histogram

  init(_ metrics: Metrics) {
    handled = metrics.counter("processor_records_total", "Records whose change is committed.")
    deadLetters = metrics.counter(
      "processor_undecodable_total", "Records that could not be decoded; each is a dead letter.")
    failures = metrics.counter(
      "processor_handler_failures_total", "Records on which a handler failed three times.")
    waiting = metrics.counter(
      "processor_waiting_total", "Records put to wait behind a failed record of their key.")
    storeFailures = metrics.counter(
      "processor_store_failures_total", "Batches that the store did not take at once.")
    pollFailures = metrics.counter(
      "processor_poll_failures_total", "Polls that the broker did not answer.")
    relayWaits = metrics.counter(
      "processor_relay_waits_total", "Times reading waited because the outbox was far behind.")
    batchSeconds = metrics.histogram("processor_batch_seconds", "From decoded batch to COMMIT.")
    batchSize = metrics.histogram(
      "processor_batch_records", "Records of one batch.", bounds: Histogram.sizes)
    waitingNow = metrics.gauge("processor_waiting_records", "Records that wait now.")
  }

  func count(_ result: Batch.Result, took: Duration) {
    handled.add(result.handled)
    deadLetters.add(result.undecodable)
    failures.add(result.failed)
    waiting.add(result.waiting)
    if let count = result.waitingNow { waitingNow.set(Int(clamping: count)) }
    batchSeconds.record(took)
    batchSize.record(Double(result.records))
  }
}
