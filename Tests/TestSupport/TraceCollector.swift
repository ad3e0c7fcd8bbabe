import FoundationEssentials
public import HTTPServer
import ServiceRuntime
import Synchronization

/// What OpenTelemetry's collector is to a service: takes spans by OTLP over HTTP and keeps them.
public final class TraceCollector: Sendable {
  /// A span as it arrived, by the names of OTLP's JSON.
  public struct Span: Decodable, Sendable {
    /// 32 hexadecimal digits.
    public let traceId: String
    /// 16 hexadecimal digits.
    public let spanId: String
    /// 16 hexadecimal digits; nil for the first of a trace.
    public let parentSpanId: String?
    /// What was done.
    public let name: String
    /// OTLP's `SpanKind`.
    public let kind: Int
    /// UTC nanoseconds, as text.
    public let startTimeUnixNano: String
    /// UTC nanoseconds, as text.
    public let endTimeUnixNano: String
    /// What is known of it.
    public let attributes: [Attribute]
    /// Set when it failed.
    public let status: Status?
    /// Which program did it; filled in from the resource.
    public var service: String { resource ?? "" }
    fileprivate(set) var resource: String?

    /// The text or number of an attribute.
    public subscript(attribute: String) -> String? {
      attributes.first { $0.key == attribute }.flatMap { $0.value.stringValue ?? $0.value.intValue }
    }
  }

  /// A name and a value.
  public struct Attribute: Decodable, Sendable {
    let key: String
    let value: Value
    struct Value: Decodable, Sendable {
      let stringValue: String?
      let intValue: String?
    }
  }

  /// 2 for a failure.
  public struct Status: Decodable, Sendable {
    /// OTLP's `StatusCode`.
    public let code: Int
  }

  private struct Export: Decodable {
    struct Resource: Decodable { let attributes: [Attribute] }
    struct Scoped: Decodable { let spans: [Span] }
    struct OfResource: Decodable {
      let resource: Resource
      let scopeSpans: [Scoped]
    }
    let resourceSpans: [OfResource]
  }

  private struct State {
    var spans: [Span] = []
    var requests: [Request] = []
    var statuses: [Int] = []
  }

  private final class Kept: Sendable {
    let state = Mutex(State())
  }

  private let kept: Kept
  private let server: Server
  private let running: Task<Void, any Error>

  /// Begins to listen on a port of its own.
  public init() throws {
    let kept = Kept()
    self.kept = kept
    var router = Router()
    router.on(.post, "/v1/traces", scope: nil) { request in
      let status = kept.state.withLock { state in
        state.requests.append(request)
        return state.statuses.isEmpty ? 200 : state.statuses.removeFirst()
      }
      guard status == 200 else { return Response(status: status) }
      let export = try JSONDecoder().decode(Export.self, from: Data(request.body))
      kept.state.withLock { state in
        for part in export.resourceSpans {
          let service = part.resource.attributes.first { $0.key == "service.name" }
          for var span in part.scopeSpans.flatMap(\.spans) {
            span.resource = service?.value.stringValue
            state.spans.append(span)
          }
        }
      }
      return Response.json(["partialSuccess": [String: String]()])
    }
    let server = try Server(port: 0, router: router, log: .silent, metrics: Metrics())
    self.server = server
    running = Task { try await server.run() }
  }

  /// Where to send spans.
  public var url: String { "http://127.0.0.1:\(server.port)/v1/traces" }
  /// What arrived.
  public var spans: [Span] { kept.state.withLock { $0.spans } }
  /// How it was asked.
  public var requests: [Request] { kept.state.withLock { $0.requests } }

  /// Answers the next requests with these statuses.
  public func refuse(_ statuses: Int...) { kept.state.withLock { $0.statuses += statuses } }

  /// Ends it.
  public func stop() async {
    await server.stop(by: .after(.seconds(2)))
    _ = try? await running.value
  }
}
