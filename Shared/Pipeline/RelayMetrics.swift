import Events
import Kafka
import ServiceRuntime
import Synchronization

/// What a relay counts.
struct RelayMetrics: Sendable {
  let delivered: Counter
  let restarts: Counter
  let refused: Counter
  let storeFailures: Counter
  /// The time from Apple and from the door to the published event.
  let way: WayMetrics

  init(_ metrics: Metrics) {
    delivered = metrics.counter("relay_delivered_total", "Outbox rows that the broker has.")
    restarts = metrics.counter("relay_restarts_total", "Times the producer was replaced.")
    refused = metrics.counter(
      "relay_refused_total", "Outbox rows that Kafka refused for good; each is a dead letter.")
    storeFailures = metrics.counter(
      "relay_store_failures_total", "Times the outbox could not be read or written.")
    way = WayMetrics(metrics)
    DeadLetters.show(in: metrics)
  }
}

/// How long the way of the data takes, up to the report that an event is with the broker.
final class WayMetrics: Sendable {
  private struct Series: Hashable {
    let topic: String
    let source: String
    let since: String
  }

  private let metrics: Metrics
  private let known = Mutex<[Series: Histogram]>([:])

  init(_ metrics: Metrics) { self.metrics = metrics }

  /// Counts an event that was published at a time, in UTC milliseconds.
  func arrived(_ start: WayStart, on topic: String, at now: Int64) {
    for (since, time) in [("signed", start.signedAt), ("received", start.receivedAt)] {
      guard let time else { continue }
      histogram(Series(topic: topic, source: start.source, since: since))
        .record(Double(max(0, now - time)) / 1000)
    }
  }

  private func histogram(_ series: Series) -> Histogram {
    known.withLock { known in
      if let histogram = known[series] { return histogram }
      let histogram = metrics.histogram(
        "way_through_seconds",
        "From Apple's signed date, and from when it was received, to the published event.",
        labels: ["topic": series.topic, "source": series.source, "since": series.since],
        bounds: Histogram.spans)
      known[series] = histogram
      return histogram
    }
  }
}
