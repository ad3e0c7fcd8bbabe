import FoundationEssentials
import JSON
import Testing

@Suite("Writing JSON")
struct JSONWriterTests {
  private struct Value: Codable, Equatable {
    var count: Int64?
    var flag: Bool?
    var list: [String]?
    var text: String?
  }

  private func written(_ value: Value) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      json.number("count", value.count)
      json.bool("flag", value.flag)
      json.texts("list", value.list)
      json.text("text", value.text)
    }
    return json.bytes
  }

  private func byFoundation(_ value: Value) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [UInt8](try encoder.encode(value))
  }

  @Test func `every character is written as Foundation's encoder writes it`() throws {
    for scalar in (0...0x2FF).compactMap(Unicode.Scalar.init) {
      let value = Value(text: "a\(Character(scalar))b")
      #expect(try written(value) == byFoundation(value), "U+\(String(scalar.value, radix: 16))")
    }
    let value = Value(text: "/é€🎈\u{2028}\u{FFFF}\u{0}\"\\")
    #expect(try written(value) == byFoundation(value))
  }

  @Test(arguments: [0, 1, -1, 9, 10, -10, 1_700_000_000_000, Int64.max, Int64.min])
  func `whole numbers are written to their last digit`(number: Int64) throws {
    #expect(written(Value(count: number)) == Array("{\"count\":\(number)}".utf8))
    #expect(try byFoundation(Value(count: number)) == written(Value(count: number)))
  }

  @Test func `absent members are left out, and commas stand between the others only`() throws {
    let values = [
      Value(), Value(flag: false), Value(flag: true, text: ""), Value(list: []),
      Value(count: 0, list: ["", "a"], text: "z"), Value(count: 1, flag: true, list: ["x"]),
    ]
    for value in values {
      #expect(try written(value) == byFoundation(value))
      #expect(try JSONDecoder().decode(Value.self, from: Data(written(value))) == value)
    }
  }

  @Test func `objects and lists of objects nest`() {
    var json = JSONWriter()
    json.object { json in
      json.objects("empty", [Int64]()) { $1.number("n", $0) }
      json.objects("many", [1, 2] as [Int64]) { $1.number("n", $0) }
      json.object("one") { $0.object("two") { _ in } }
      json.bool("z", true)
    }
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"{"empty":[],"many":[{"n":1},{"n":2}],"one":{"two":{}},"z":true}"#)
  }
}
