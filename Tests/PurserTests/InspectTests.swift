import Events
import FoundationEssentials
import Kafka
import Testing

@testable import purser

@Suite("Records as purser shows them")
struct InspectTests {
  private func record(
    _ type: EventType?, key: String? = "alice", value: [UInt8]?, headers: [Header] = []
  ) -> ReceivedRecord {
    let typed = type.map { [Header(name: "ce_type", text: $0.rawValue)] } ?? []
    return ReceivedRecord(
      topic: "iap.orders", partition: 3, offset: 17, timestamp: 1_700_000_000_000,
      key: key.map { Array($0.utf8) }, value: value, headers: typed + headers)
  }

  private let issued = TokenIssued(
    token: "0123456789", customer: "alice", bundleId: "com.example", orderId: nil, issuedAt: 1)

  @Test func `a line tells time, place, key, type and content`() throws {
    let record = record(.tokenIssued, value: try EventJSON.encode(issued))
    let line = RecordLine.line(record, .standard)
    for part in [
      "2023-11-14T22:13:20.000Z", "3:17", "alice", "customer.token-issued.v1", "token 01234567",
    ] {
      #expect(line.contains(part), "\(part) in \(line)")
    }
  }

  @Test func `a record of unknown type shows its beginning`() {
    let text = PayloadSummary.text(record(nil, value: Array(repeating: 0x61, count: 500)))
    #expect(text.hasPrefix("aaaa"))
    #expect(text.contains("500 bytes"))
  }

  @Test func `a record that does not fit its type says which field`() {
    let text = PayloadSummary.text(record(.tokenIssued, value: Array(#"{"token":5}"#.utf8)))
    #expect(text.contains("NOT READABLE: token"))
  }

  @Test func `a tombstone and a dead letter are called so`() {
    #expect(PayloadSummary.text(record(.customerState, value: nil)) == "(tombstone)")
    let dead = record(
      nil, value: [],
      headers: [
        Header(name: "purser-reason", text: "not-json"),
        Header(name: "purser-origin-topic", text: "iap.proofs"),
        Header(name: "purser-origin-partition", text: "1"),
        Header(name: "purser-origin-offset", text: "5"),
      ])
    #expect(PayloadSummary.text(dead).hasPrefix("DEAD not-json from iap.proofs:1:5"))
  }

  @Test func `content cannot steer the terminal`() {
    let hostile = "a\u{1B}[2Jb\nc\u{202E}d"
    let line = RecordLine.line(
      record(EventType(rawValue: hostile), key: hostile, value: Array(hostile.utf8)), .standard)
    #expect(!line.contains("\u{1B}"))
    #expect(!line.contains("\n"))
    #expect(!line.contains("\u{202E}"))
  }

  private struct Shown: Decodable {
    struct Value: Decodable { let token: String }
    let topic: String
    let partition: Int
    let offset: Int64
    let key: String?
    let headers: [String: String]
    let value: Value?
  }

  @Test func `a JSON line holds the whole record, a JSON value as it is`() throws {
    let pretty = Array("{\n  \"token\": \"a\\nb\"\n}".utf8)
    let line = RecordJSON.line(record(.tokenIssued, value: pretty))
    #expect(!line.contains("\n"))
    let shown = try JSONDecoder().decode(Shown.self, from: Data(line.utf8))
    #expect(shown.topic == "iap.orders" && shown.partition == 3 && shown.offset == 17)
    #expect(shown.key == "alice")
    #expect(shown.headers["ce_type"] == EventType.tokenIssued.rawValue)
    #expect(shown.value?.token == "a\nb")
  }

  @Test func `a JSON line survives what is no JSON, no text, or absent`() {
    #expect(RecordJSON.line(record(nil, value: Array("{oh".utf8))).contains(#""value":"{oh""#))
    #expect(RecordJSON.line(record(nil, value: [0xff, 0x00])).contains(#""valueBase64":"/wA=""#))
    #expect(RecordJSON.line(record(nil, key: nil, value: nil)).contains(#""value":null"#))
    let twice = [Header(name: "h", text: "1"), Header(name: "h", text: "2")]
    #expect(RecordJSON.line(record(nil, value: nil, headers: twice)).contains(#""h":["1","2"]"#))
  }

  @Test func `a filter takes by key and by part of the type`() {
    let event = record(.orderChanged, value: [])
    #expect(RecordFilter(key: nil, type: nil).takes(event))
    #expect(RecordFilter(key: "alice", type: "order").takes(event))
    #expect(!RecordFilter(key: "bob", type: nil).takes(event))
    #expect(!RecordFilter(key: nil, type: "proof").takes(event))
    #expect(!RecordFilter(key: "", type: nil).takes(record(nil, key: nil, value: [])))
    #expect(RecordFilter(key: "", type: nil).takes(record(nil, key: "", value: [])))
  }

  @Test(arguments: [
    ("beginning", StartingPlace.beginning), ("end", .end), ("17", .offset(17)),
    ("90s", .time(1_000_000 - 90_000)), ("2h", .time(1_000_000 - 7_200_000)),
    ("2023-11-14T22:13:20Z", .time(1_700_000_000_000)),
    ("2023-11-14T22:13:20.250Z", .time(1_700_000_000_250)),
  ])
  func `a place to begin is a word, an offset, an age or a time`(
    text: String, place: StartingPlace
  ) throws {
    let arguments = try Arguments(["orders"], for: InspectCommand.command)
    #expect(try StartingPlace(text, now: 1_000_000, arguments) == place)
  }

  @Test(arguments: ["yesterday", "", "-1", "5w", "12:00"])
  func `another place is refused`(text: String) throws {
    let arguments = try Arguments(["orders"], for: InspectCommand.command)
    #expect(throws: UsageError.self) { try StartingPlace(text, now: 0, arguments) }
  }
}
