import ServiceRuntime

/// What a client counts.
struct ClientMetrics: Sendable {
  private let metrics: Metrics
  private let client: String
  private let durations: Histogram

  init(_ metrics: Metrics, client: String) {
    self.metrics = metrics
    self.client = client
    durations = metrics.histogram(
      "http_client_request_seconds", "Time of answered requests to other servers.",
      labels: ["client": client])
  }

  func answered(_ status: Int, in time: Duration) {
    durations.record(time)
    count(String(status))
  }

  func failed(_ kind: HTTPClientError.Kind) { count(kind.rawValue) }

  private func count(_ outcome: String) {
    metrics.counter(
      "http_client_requests_total", "Requests to other servers by status or kind of failure.",
      labels: ["client": client, "outcome": outcome]
    ).add()
  }
}
