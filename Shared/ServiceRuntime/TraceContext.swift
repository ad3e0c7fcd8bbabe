/// A place in a trace: what stands in the header `traceparent` (W3C Trace Context).
public struct TraceContext: Sendable, Equatable {
  /// The context of what this task or thread does now; log lines bear its trace's id.
  @TaskLocal public static var current: TraceContext?

  /// The trace, two halves of 16 bytes; not both 0.
  public let traceId: (high: UInt64, low: UInt64)
  /// The span that caused what bears this context; not 0.
  public let spanId: UInt64
  /// Whether the spans of this trace are exported.
  public let isSampled: Bool

  /// Names a place.
  public init(traceId: (high: UInt64, low: UInt64), spanId: UInt64, isSampled: Bool) {
    self.traceId = traceId
    self.spanId = spanId
    self.isSampled = isSampled
  }

  /// Reads `traceparent`; nil for anything malformed, as the standard asks (§3.2.2, §4.3).
  ///
  /// Of a version after 00, what comes behind the fields that are known is left out.
  public init?(traceparent: String) {
    let text = Array(traceparent.utf8)
    guard text.count >= 55, text[2] == 0x2D, text[35] == 0x2D, text[52] == 0x2D,
      let version = Self.number(text[0..<2]), version != 0xFF,
      version == 0 ? text.count == 55 : text.count == 55 || text[55] == 0x2D,
      let high = Self.number(text[3..<19]), let low = Self.number(text[19..<35]),
      let span = Self.number(text[36..<52]), let flags = Self.number(text[53..<55]),
      high | low != 0, span != 0
    else { return nil }
    self.init(traceId: (high, low), spanId: span, isSampled: flags & 1 == 1)
  }

  /// The value of `traceparent`.
  public var traceparent: String { "00-\(traceIdText)-\(spanIdText)-\(isSampled ? "01" : "00")" }

  /// The trace as 32 hexadecimal digits.
  public var traceIdText: String { Self.text(traceId.high) + Self.text(traceId.low) }

  /// The span as 16 hexadecimal digits.
  public var spanIdText: String { Self.text(spanId) }

  /// Whether two are the same place.
  public static func == (left: TraceContext, right: TraceContext) -> Bool {
    left.traceId == right.traceId && left.spanId == right.spanId
      && left.isSampled == right.isSampled
  }

  static func text(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }

  /// Lower-case hexadecimal digits only, as the standard asks.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for byte in digits {
      switch byte {
      case 0x30...0x39: number = number << 4 | UInt64(byte - 0x30)
      case 0x61...0x66: number = number << 4 | UInt64(byte - 0x61 + 10)
      default: return nil
      }
    }
    return number
  }
}
