import Glibc
import Synchronization

/// Something that was done, as it is exported (OpenTelemetry's data model of a span).
public struct Span: Sendable {
  /// What kind of step it was; the numbers are OTLP's `SpanKind`.
  public enum Kind: Int64, Sendable {
    case server = 2
    case client = 3
    case producer = 4
    case consumer = 5
  }

  /// Its own place in the trace.
  public let context: TraceContext
  /// The span that caused it; nil for the first of a trace.
  public let parent: UInt64?
  /// Few different ones, such as `POST /v1/orders`.
  public let name: String
  /// What kind of step it was.
  public let kind: Kind
  /// When it began, UTC nanoseconds.
  public let startedAt: Int64
  /// When it ended, UTC nanoseconds; 0 while it goes on.
  public internal(set) var endedAt: Int64 = 0
  /// What is known of it, by OpenTelemetry's names where they have one.
  public var attributes: [(name: String, value: LogValue)]
  /// Whether it failed.
  public var hasFailed = false

  /// The parent as 16 hexadecimal digits.
  public var parentIdText: String? { parent.map { TraceContext.text($0) } }
}

/// Makes spans and keeps them until the exporter takes them; off, it makes none.
///
/// What begins without a trace is sampled by its id, what continues one goes as that one was decided
/// (OpenTelemetry's sampler `parentbased_traceidratio`).
public final class Tracer: Sendable {
  /// Makes no span; contexts of others are passed on as they came.
  public static let off = Tracer()
  /// More spans than this do not wait for the exporter; they are counted and left out.
  public static let waitingLimit = 4096
  /// So many spans are sent together, and wake the exporter.
  public static let batch = 512

  /// Whether spans are made.
  public let isOn: Bool
  /// Trace ids below are sampled.
  private let sampledBelow: UInt64
  private let waiting = Mutex<[Span]>([])
  private let left: Counter
  private let made: Counter
  private let wake = Wake()

  private init() {
    isOn = false
    sampledBelow = 0
    left = Counter()
    made = Counter()
  }

  /// Makes a tracer.
  ///
  /// - Parameter sampling: The share of new traces that is exported, 0 to 1.
  public init(sampling: Double, metrics: Metrics) {
    isOn = true
    sampledBelow = sampling >= 1 ? .max : UInt64(max(0, sampling) * 0x1p63) * 2
    made = metrics.counter("trace_spans_total", "Spans that were made for the collector.")
    left = metrics.counter(
      "trace_spans_dropped_total",
      "Spans that were left out, as the collector takes too few or refused them.")
  }

  /// Begins a span; nil when tracing is off.
  ///
  /// - Parameter parent: What caused it; nil begins a trace.
  public func begin(
    _ name: String, _ kind: Span.Kind, parent: TraceContext?,
    attributes: [(name: String, value: LogValue)] = []
  ) -> Span? {
    guard isOn else { return nil }
    let trace =
      parent?.traceId ?? (high: UInt64.random(in: 1 ... .max), low: UInt64.random(in: 0 ... .max))
    let isSampled = parent?.isSampled ?? (sampledBelow == .max || trace.low < sampledBelow)
    return Span(
      context: TraceContext(
        traceId: trace, spanId: .random(in: 1 ... .max), isSampled: isSampled),
      parent: parent?.spanId, name: name, kind: kind, startedAt: Self.now(),
      attributes: attributes)
  }

  /// Ends a span and leaves it to the exporter.
  public func end(_ span: Span) {
    guard isOn, span.context.isSampled else { return }
    var span = span
    span.endedAt = Self.now()
    let count = waiting.withLock { waiting -> Int? in
      guard waiting.count < Self.waitingLimit else { return nil }
      waiting.append(span)
      return waiting.count
    }
    made.add()
    guard let count else { return left.add() }
    if count == Self.batch { wake.signal() }
  }

  /// For the exporter: the oldest spans, at most a batch of them.
  public func take() -> [Span] {
    waiting.withLock { waiting in
      let taken = Array(waiting.prefix(Self.batch))
      waiting.removeFirst(taken.count)
      return taken
    }
  }

  /// For the exporter: waits until a batch is there, or the time is over.
  public func wait(atMost duration: Duration) { wake.wait(atMost: duration) }

  /// For the exporter's end: no longer wait.
  public func interrupt() { wake.signal() }

  /// Counts spans that the exporter could not deliver.
  public func dropped(_ count: Int) { left.add(count) }

  /// UTC nanoseconds, by the real clock: what took time took it there.
  private static func now() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
