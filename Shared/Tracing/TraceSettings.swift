import HTTPClient
public import ServiceRuntime

/// Where traces go, from a service's settings.
public struct TraceSettings: Sendable {
  /// The collector's URL; nil when traces are not exported.
  public let endpoint: String?
  /// The share of new traces that is exported, 0 to 1.
  public let sampling: Double
  private let authorization: Secret?

  /// Reads `PURSER_TRACES_ENDPOINT`, `PURSER_TRACES_SAMPLING` and `PURSER_TRACES_AUTHORIZATION`.
  public init(_ reader: inout SettingsReader) {
    endpoint = reader.optionalText(
      "PURSER_TRACES_ENDPOINT",
      "where traces are sent, by OTLP over HTTP, such as http://collector:4318/v1/traces; none are "
        + "made without it")
    let share = reader.text(
      "PURSER_TRACES_SAMPLING", default: "1",
      "the share of traces that is exported, 0 to 1; one that a caller began goes as it decided")
    sampling = Double(share) ?? -1
    authorization = reader.secret(
      "PURSER_TRACES_AUTHORIZATION", "the collector's header Authorization, such as 'Bearer …'")
    if let endpoint, !["http://", "https://"].contains(where: { endpoint.hasPrefix($0) }) {
      reader.fault(
        "PURSER_TRACES_ENDPOINT",
        "is '\(endpoint)'; give a whole URL, such as http://collector:4318/v1/traces")
    }
    if !(0...1).contains(sampling) {
      reader.fault(
        "PURSER_TRACES_SAMPLING", "is '\(share)'; give a number from 0 to 1, such as 0.1")
    }
  }

  /// The tracer of a process and what sends its spans; off, and nothing to run, without an endpoint.
  ///
  /// - Parameter program: `service.name` of all spans.
  public func tracing(program: String, log: Log, metrics: Metrics) -> (Tracer, [any Service]) {
    guard let endpoint else { return (.off, []) }
    let tracer = Tracer(sampling: sampling, metrics: metrics)
    let exporter = TraceExporter(
      tracer, program: program, url: endpoint, authorization: authorization, log: log,
      metrics: metrics)
    return (tracer, [exporter])
  }
}
