import ServiceRuntime
import Synchronization

/// What a server counts.
///
/// Series are kept by route pattern, never by path.
final class ServerMetrics: Sendable {
  private struct Series: Hashable {
    let method: Method
    let pattern: String
    let status: Int
  }

  private struct Known {
    var counters: [Series: Counter] = [:]
    var histograms: [String: Histogram] = [:]
    var refusals: [String: Counter] = [:]
  }

  let connections: Gauge
  let inFlight: Gauge
  let streams: Gauge
  private let metrics: Metrics
  private let known = Mutex(Known())

  init(_ metrics: Metrics) {
    self.metrics = metrics
    connections = metrics.gauge("http_connections", "Open connections.")
    inFlight = metrics.gauge("http_requests_in_flight", "Requests in their handlers.")
    streams = metrics.gauge("http_streams", "Open event streams.")
  }

  func answered(_ method: Method, _ pattern: String, _ status: Int, in time: Duration) {
    // Methods are words of the client: only those of our routes and the common ones become labels.
    let method = Self.named.contains(method) ? method : Method(rawValue: "other")
    let series = Series(method: method, pattern: pattern, status: status)
    let (counter, histogram) = known.withLock { known in
      let counter =
        known.counters[series]
        ?? metrics.counter(
          "http_requests_total", "Answered requests.",
          labels: ["method": method.rawValue, "route": pattern, "status": String(status)])
      let histogram =
        known.histograms[pattern]
        ?? metrics.histogram(
          "http_request_seconds", "Time from the request line to the answer.",
          labels: ["route": pattern])
      known.counters[series] = counter
      known.histograms[pattern] = histogram
      return (counter, histogram)
    }
    counter.add()
    histogram.record(time)
  }

  /// Counts a problem that a handler answered with, by its type.
  func told(problem type: String) {
    metrics.counter(
      "http_problems_total", "Problem documents of handlers, by type.", labels: ["type": type]
    ).add()
  }

  /// Counts a refusal by the slug of its problem, or a cut connection by its cause.
  func refused(_ reason: String) {
    known.withLock { known in
      let counter =
        known.refusals[reason]
        ?? metrics.counter(
          "http_refused_total", "Requests refused and connections cut by the server.",
          labels: ["reason": reason])
      known.refusals[reason] = counter
      return counter
    }.add()
  }

  private static let named: Set<Method> = [
    .get, .head, .post, .put, .patch, .delete, .options,
  ]
}
