import JSON
import ServiceRuntime

/// Spans in OTLP's JSON (OpenTelemetry Protocol Specification, "JSON Protobuf Encoding": ids are
/// hexadecimal, 64-bit numbers are text).
enum OTLPText {
  static func request(_ spans: [Span], program: String) -> [UInt8] {
    var writer = JSONWriter(capacity: 512 + 512 * spans.count)
    writer.object { request in
      request.objects("resourceSpans", [program]) { program, one in
        one.object("resource") { resource in
          attributes([("service.name", .string(program))], &resource)
        }
        one.objects("scopeSpans", [spans]) { spans, scoped in
          scoped.object("scope") { $0.text("name", "purser") }
          scoped.objects("spans", spans, write)
        }
      }
    }
    return writer.bytes
  }

  private static func write(_ span: Span, _ writer: inout JSONWriter) {
    writer.text("traceId", span.context.traceIdText)
    writer.text("spanId", span.context.spanIdText)
    writer.text("parentSpanId", span.parentIdText)
    writer.text("name", span.name)
    writer.number("kind", span.kind.rawValue)
    writer.text("startTimeUnixNano", "\(span.startedAt)")
    writer.text("endTimeUnixNano", "\(span.endedAt)")
    attributes(span.attributes, &writer)
    // 2 is STATUS_CODE_ERROR; what did not fail has no status.
    if span.hasFailed { writer.object("status") { $0.number("code", 2) } }
  }

  private static func attributes(
    _ attributes: [(name: String, value: LogValue)], _ writer: inout JSONWriter
  ) {
    writer.objects("attributes", attributes) { attribute, one in
      one.text("key", attribute.name)
      one.object("value") { value in
        switch attribute.value {
        case .string(let text): value.text("stringValue", text)
        case .integer(let number): value.text("intValue", "\(number)")
        case .double(let number): value.text("stringValue", "\(number)")
        case .boolean(let flag): value.bool("boolValue", flag)
        }
      }
    }
  }
}
