import ServiceRuntime
import Synchronization
import Testing

@Suite("Traces")
struct TraceTests {
  private static let example = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  @Test func `the example of the standard is read and written as it is`() throws {
    let context = try #require(TraceContext(traceparent: Self.example))
    #expect(context.traceIdText == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(context.spanIdText == "00f067aa0ba902b7")
    #expect(context.isSampled)
    #expect(context.traceparent == Self.example)
  }

  @Test(arguments: [
    "", "00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e473g-00f067aa0ba902b7-01",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
    "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
  ])
  func `what is malformed begins no trace`(_ text: String) {
    #expect(TraceContext(traceparent: text) == nil)
  }

  @Test func `a later version is read as far as it is known`() {
    let later = "01-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-new"
    #expect(TraceContext(traceparent: later)?.traceparent == Self.example)
    #expect(TraceContext(traceparent: later.replacing("-new", with: "new")) == nil)
  }

  @Test func `a step stays in the trace of what caused it, and goes as that was decided`() throws {
    let tracer = Tracer(sampling: 1, metrics: Metrics())
    let cause = try #require(TraceContext(traceparent: Self.example))
    let step = try #require(tracer.begin("a", .server, parent: cause))
    #expect(step.context.traceId == cause.traceId && step.context.spanId != cause.spanId)
    #expect(step.parentIdText == "00f067aa0ba902b7" && step.context.isSampled)
    let silent = TraceContext(traceId: cause.traceId, spanId: cause.spanId, isSampled: false)
    let left = try #require(tracer.begin("b", .server, parent: silent))
    #expect(!left.context.isSampled)
    tracer.end(left)
    tracer.end(step)
    #expect(tracer.take().map(\.name) == ["a"])
  }

  @Test func `of new traces the asked share is exported`() throws {
    let none = Tracer(sampling: 0, metrics: Metrics())
    let half = Tracer(sampling: 0.5, metrics: Metrics())
    let count = (0..<2000).count { _ in
      half.begin("a", .server, parent: nil)?.context.isSampled == true
    }
    // 2,000 tosses of a coin lie outside of this once in 10^11 runs.
    #expect((850...1150).contains(count))
    #expect(none.begin("a", .server, parent: nil)?.context.isSampled == false)
  }

  @Test func `without a collector no span is made`() {
    #expect(Tracer.off.begin("a", .server, parent: nil) == nil)
  }

  @Test func `spans that nobody takes are left out and counted, not kept`() throws {
    let metrics = Metrics()
    let tracer = Tracer(sampling: 1, metrics: metrics)
    for _ in 0..<(Tracer.waitingLimit + 7) {
      tracer.end(try #require(tracer.begin("a", .server, parent: nil)))
    }
    #expect(metrics.text().contains("trace_spans_dropped_total 7\n"))
    #expect(tracer.take().count == Tracer.batch)
  }

  @Test func `lines of the log name the trace that they belong to`() throws {
    let lines = Mutex<[String]>([])
    let log = Log(program: "p") { line in lines.withLock { $0.append(line) } }
    let context = try #require(TraceContext(traceparent: Self.example))
    TraceContext.$current.withValue(context) { log.info("inside", ["trace": "mine"]) }
    log.info("outside")
    let said = lines.withLock { $0 }
    #expect(said[0].contains("\"trace\":\"4bf92f3577b34da6a3ce929d0e0e4736\""))
    #expect(said[0].contains("\"field_trace\":\"mine\""))
    #expect(!said[1].contains("trace"))
  }
}
