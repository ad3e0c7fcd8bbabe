import Glibc
import Synchronization

/// Writes JSON lines to standard output: one object a line, a constant sentence and fields.
public struct Log: Sendable {
  /// How much a line matters.
  public enum Level: String, Sendable, Comparable, CaseIterable {
    case debug, info, warning, error

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// Orders by weight.
    public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }
  }

  /// The program that speaks, such as `order-service`.
  public let program: String
  /// Lines below this level are not written.
  public let minimumLevel: Level
  private let clock: any WallClock
  private let sink: @Sendable (String) -> Void

  /// Makes a log.
  ///
  /// - Parameters:
  ///   - program: The value of the `program` field of each line.
  ///   - minimumLevel: Lines below this level are not written.
  ///   - clock: The clock of the `time` field.
  ///   - sink: Where lines go; standard output unless a test listens.
  public init(
    program: String, minimumLevel: Level = .info, clock: any WallClock = SystemClock(),
    sink: @escaping @Sendable (String) -> Void = Log.standardOutput
  ) {
    self.program = program
    self.minimumLevel = minimumLevel
    self.clock = clock
    self.sink = sink
  }

  /// A log that writes nothing.
  public static let silent = Log(program: "silent", minimumLevel: .error) { _ in }

  /// Writes a line that helps while developing.
  public func debug(_ message: StaticString, _ fields: [String: LogValue] = [:]) {
    write(.debug, message, fields)
  }

  /// Writes a line about the ordinary course of things.
  public func info(_ message: StaticString, _ fields: [String: LogValue] = [:]) {
    write(.info, message, fields)
  }

  /// Writes a line about something that works but wants a look.
  public func warning(_ message: StaticString, _ fields: [String: LogValue] = [:]) {
    write(.warning, message, fields)
  }

  /// Writes a line about something that failed.
  public func error(_ message: StaticString, _ fields: [String: LogValue] = [:]) {
    write(.error, message, fields)
  }

  private func write(_ level: Level, _ message: StaticString, _ fields: [String: LogValue]) {
    guard level >= minimumLevel else { return }
    var line = "{\"time\":\"\(rfc3339(clock.now()))\",\"level\":\"\(level.rawValue)\",\"program\":"
    JSONText.append(program, to: &line)
    line += ",\"message\":"
    JSONText.append("\(message)", to: &line)
    if let trace = TraceContext.current { line += ",\"trace\":\"\(trace.traceIdText)\"" }
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      line += ","
      // A name twice in one object would let a field pass for the line's own.
      JSONText.append(Self.ownNames.contains(name) ? "field_\(name)" : name, to: &line)
      line += ":"
      value.append(to: &line)
    }
    line += "}\n"
    sink(line)
  }

  private static let ownNames: Set<String> = ["time", "level", "program", "message", "trace"]

  private static let outputLock = Mutex(())

  /// Writes a whole line to standard output, so that lines of several threads do not mix.
  public static let standardOutput: @Sendable (String) -> Void = { line in
    outputLock.withLock { _ in
      var line = line
      line.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while unsafe !rest.isEmpty {
          let count = unsafe Glibc.write(STDOUT_FILENO, rest.baseAddress, rest.count)
          if count < 0 && errno == EINTR { continue }
          guard count > 0 else { return }
          unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[count...])
        }
      }
    }
  }
}

/// A value in a field of a log line.
public enum LogValue: Sendable, Equatable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByStringInterpolation
{
  case string(String)
  case integer(Int64)
  case double(Double)
  case boolean(Bool)

  /// A text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// True or false.
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  /// A text.
  public init(_ value: String) { self = .string(value) }
  /// A whole number.
  public init(_ value: some BinaryInteger) { self = .integer(Int64(clamping: value)) }

  /// An error, in its own words.
  public init(_ error: any Error) { self = .string(String(describing: error)) }

  func append(to line: inout String) {
    switch self {
    case .string(let text): JSONText.append(text, to: &line)
    case .integer(let number): line += String(number)
    case .double(let number): line += number.isFinite ? String(number) : "null"
    case .boolean(let value): line += value ? "true" : "false"
    }
  }
}
