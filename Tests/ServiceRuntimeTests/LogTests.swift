import FoundationEssentials
import ServiceRuntime
import Synchronization
import Testing

@Suite struct `Log lines` {
  private enum Field: Decodable, Equatable {
    case text(String)
    case number(Double)
    case flag(Bool)
    case null

    init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .null
      } else if let flag = try? value.decode(Bool.self) {
        self = .flag(flag)
      } else if let number = try? value.decode(Double.self) {
        self = .number(number)
      } else {
        self = .text(try value.decode(String.self))
      }
    }
  }

  private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  private let lines = Lines()

  private func log(_ program: String = "test", _ level: Log.Level = .info) -> Log {
    let lines = lines
    return Log(program: program, minimumLevel: level, clock: ManualClock(1_700_000_000_123)) {
      lines.add($0)
    }
  }

  private func decoded() throws -> [String: Field] {
    let line = try #require(lines.all.last)
    #expect(line.hasSuffix("}\n"))
    #expect(line.utf8.count { $0 == 0x0A } == 1)
    return try JSONDecoder().decode([String: Field].self, from: Data(line.utf8))
  }

  @Test func `a line has time, level, program, message and fields`() throws {
    log("order-service").warning(
      "the disk is slow", ["count": 3, "ok": false, "path": "/data", "ratio": .double(0.5)])
    #expect(
      lines.all == [
        "{\"time\":\"2023-11-14T22:13:20.123Z\",\"level\":\"warning\","
          + "\"program\":\"order-service\",\"message\":\"the disk is slow\","
          + "\"count\":3,\"ok\":false,\"path\":\"/data\",\"ratio\":0.5}\n"
      ])
  }

  @Test(arguments: [
    "", "\"", "\\", "\n", "\r\n", "\t", "\0", "\u{1}\u{1F}\u{7F}", "\u{2028}\u{2029}", "</script>",
    "\",\"level\":\"error", "číšník 👩‍🍳", "\u{FEFF}", "\u{10FFFF}", "\\u0000", "e\u{301}",
    "\u{1B}[31mred",
  ])
  func `hostile text stays text, on one line`(_ text: String) throws {
    log(text).info("told", [text: .string(text), "plain": "yes"])
    let fields = try decoded()
    #expect(fields["plain"] == .text("yes"))
    #expect(fields["level"] == .text("info"))
    guard case .text(let program)? = fields["program"], case .text(let value)? = fields[text] else {
      Issue.record("not a text")
      return
    }
    #expect(Array(program.unicodeScalars) == Array(text.unicodeScalars))
    #expect(Array(value.unicodeScalars) == Array(text.unicodeScalars))
  }

  @Test func `fields cannot take the place of the line's own`() throws {
    log().info(
      "true message", ["message": "forged", "level": "error", "time": "0", "program": "x"])
    let line = try #require(lines.all.last)
    let names = ["time", "level", "program", "message"]
    for name in names { #expect(line.components("\"\(name)\":") == 1) }
    let fields = try decoded()
    #expect(fields["message"] == .text("true message"))
    #expect(fields["field_message"] == .text("forged"))
  }

  @Test func `numbers that JSON lacks become null`() throws {
    log().info(
      "numbers",
      [
        "nan": .double(.nan), "inf": .double(-.infinity), "tiny": .double(.leastNonzeroMagnitude),
        "huge": .double(.greatestFiniteMagnitude), "int": .integer(.min),
      ])
    let fields = try decoded()
    #expect(fields["nan"] == .null)
    #expect(fields["inf"] == .null)
    #expect(fields["tiny"] == .number(.leastNonzeroMagnitude))
    #expect(fields["huge"] == .number(.greatestFiniteMagnitude))
    #expect(fields["int"] == .number(Double(Int64.min)))
  }

  @Test func `lines below the level are not written`() {
    let log = log("test", .warning)
    log.debug("no")
    log.info("no")
    log.warning("yes")
    log.error("yes")
    #expect(lines.all.count == 2)
  }
}

extension String {
  /// How often a text occurs.
  fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
