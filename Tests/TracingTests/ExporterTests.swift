import HTTPServer
import ServiceRuntime
import TestSupport
import Testing
import Tracing

@Suite("Sending spans")
struct ExporterTests {
  /// A tracer whose exporter runs.
  private struct Running {
    let tracer: Tracer
    let metrics = Metrics()
    private let services: [any Service]
    private let tasks: [Task<Void, any Error>]

    init(_ url: String, _ more: [String: String] = [:]) throws {
      var reader = SettingsReader(["PURSER_TRACES_ENDPOINT": url].merging(more) { $1 })
      let settings = TraceSettings(&reader)
      try reader.finish()
      (tracer, services) = settings.tracing(program: "a-service", log: .silent, metrics: metrics)
      tasks = services.map { service in Task { try await service.run() } }
    }

    func span(_ name: String, fails: Bool = false) throws {
      var span = try #require(
        tracer.begin(
          name, .server, parent: nil,
          attributes: [("text", "a \"quoted\" word"), ("number", 7), ("truth", true)]))
      span.hasFailed = fails
      tracer.end(span)
    }

    func stop() async throws {
      for service in services { await service.stop(by: .after(.seconds(5))) }
      for task in tasks { try await task.value }
    }
  }

  private func eventually(_ condition: () -> Bool) async throws -> Bool {
    let deadline = Deadline.after(.seconds(20))
    while !deadline.hasPassed {
      if condition() { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return condition()
  }

  @Test func `a collector gets each span once, as OTLP says it`() async throws {
    let collector = try TraceCollector()
    let running = try Running(
      collector.url, ["PURSER_TRACES_AUTHORIZATION": "Bearer of-the-collector"])
    for number in 0..<600 { try running.span("span \(number)", fails: number == 3) }
    #expect(try await eventually { collector.spans.count == 600 })
    try await running.stop()
    let spans = collector.spans
    #expect(Set(spans.map(\.name)).count == 600 && spans.count == 600)
    let first = try #require(spans.first { $0.name == "span 0" })
    #expect(first.service == "a-service" && first.kind == 2 && first.parentSpanId == nil)
    #expect(first.traceId.count == 32 && first.spanId.count == 16)
    #expect(first["text"] == "a \"quoted\" word" && first["number"] == "7")
    let began = try #require(Int64(first.startTimeUnixNano))
    #expect(try #require(Int64(first.endTimeUnixNano)) >= began)
    #expect(spans.filter { $0.status?.code == 2 }.map(\.name) == ["span 3"])
    #expect(
      collector.requests.allSatisfy { $0.headers["Authorization"] == "Bearer of-the-collector" })
    await collector.stop()
  }

  @Test func `what was made shortly before the end is sent too`() async throws {
    let collector = try TraceCollector()
    let running = try Running(collector.url)
    try running.span("last")
    try await running.stop()
    #expect(collector.spans.map(\.name) == ["last"])
    await collector.stop()
  }

  @Test func `a collector that is busy is asked again, one that refuses is not`() async throws {
    let collector = try TraceCollector()
    let running = try Running(collector.url)
    collector.refuse(503)
    try running.span("after a pause")
    #expect(try await eventually { collector.spans.map(\.name) == ["after a pause"] })
    collector.refuse(400)
    try running.span("refused")
    #expect(
      try await eventually { running.metrics.text().contains("trace_spans_dropped_total 1\n") })
    #expect(collector.requests.count == 3)
    try await running.stop()
    await collector.stop()
  }

  @Test func `without a collector only spans are lost`() async throws {
    let running = try Running("http://127.0.0.1:1/v1/traces")
    try running.span("lost")
    try await running.stop()
    #expect(running.metrics.text().contains("trace_spans_dropped_total 1\n"))
  }

  @Test func `settings that cannot be used are named with their remedy`() {
    var reader = SettingsReader([
      "PURSER_TRACES_ENDPOINT": "collector:4318", "PURSER_TRACES_SAMPLING": "10%",
    ])
    _ = TraceSettings(&reader)
    #expect(
      reader.faults.map(\.name) == ["PURSER_TRACES_ENDPOINT", "PURSER_TRACES_SAMPLING"])
    #expect(reader.faults[0].problem.contains("http://collector:4318/v1/traces"))
  }
}
