import Events
import FoundationEssentials
import Testing

/// Our coder of events beside Foundation's, which says what is right.
@Suite("Coding of events") struct CodingTests {
  private struct Everything: Codable, Equatable {
    struct Part: Codable, Equatable {
      var name: String
      var list: [Int64]
    }

    var text = "plain"
    var flag = true
    var small: Int8 = -7
    var large = Int64.min
    var unsigned = UInt64.max
    var real = 0.1
    var whole = 3.0
    var absent: String?
    var present: Int64? = 12
    var parts = [Part(name: "b", list: []), Part(name: "a", list: [3, 1, 2])]
    var byName: [String: Part] = ["z": Part(name: "", list: [0]), "a": Part(name: "x", list: [])]
    var nothing: [String?] = [nil, "x"]
  }

  private func foundation(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private func ours(_ value: some Encodable) throws -> String {
    String(decoding: try EventJSON.encode(value), as: UTF8.self)
  }

  private func read<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try EventJSON.decode(type, from: Array(text.utf8))
  }

  @Test func `a value is written as Foundation writes it and reads back the same`() throws {
    let value = Everything()
    let text = try ours(value)
    #expect(try text == foundation(value))
    #expect(try read(Everything.self, text) == value)
  }

  @Test(arguments: [
    "", "a/b", "quote \" and \\", "\u{8}\u{9}\u{A}\u{C}\u{D}", "\u{0}\u{1F}\u{7F}", "ünï → 😀",
    "e\u{301}", "\u{2028}",
  ])
  func `a text is written as Foundation writes it and reads back the same`(text: String) throws {
    #expect(try ours([text]) == foundation([text]))
    let back = try read([String].self, try ours([text]))
    #expect(back.map { Array($0.utf8) } == [Array(text.utf8)])
  }

  @Test func `escapes mean what RFC 8259 says`() throws {
    let text = #"["\"\\\/\b\f\n\r\t\u0041\ud83d\ude00\u00e9"]"#
    #expect(try read([String].self, text) == ["\"\\/\u{8}\u{C}\n\r\tA😀é"])
    #expect(try read([String: Int64].self, #"{"\u0061": 1}"#) == ["a": 1])
  }

  @Test(arguments: [
    "", " ", "[", "[1", "[1,", "[1,]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "[01]",
    "[1.]", "[.5]", "[1e]", "[+1]", "[-]", "[\"]", "[\"\\x\"]", "[\"\\u12\"]", "[\"\\ud800\"]",
    "[\"\n\"]", "[1] 2", "nul", "[tru]", "[NaN]", "[Infinity]",
  ])
  func `what is no JSON is refused`(text: String) {
    #expect(throws: DecodingError.self) { try read([String?].self, text) }
    #expect(throws: DecodingError.self) { try read([Int64].self, text) }
  }

  @Test func `text that is not UTF-8 is refused`() {
    #expect(throws: DecodingError.self) {
      try EventJSON.decode(
        [String].self, from: Array("[\"".utf8) + [0xC3, 0x28] + Array("\"]".utf8))
    }
  }

  @Test func `a deep text is refused, not followed`() {
    let text = String(repeating: "[", count: 100_000)
    #expect(throws: DecodingError.self) { try read([Int64].self, text) }
  }

  @Test func `numbers are exact or refused`() throws {
    #expect(
      try read([Int64].self, "[9223372036854775807,-9223372036854775808,-0,1e2,2.0]")
        == [.max, .min, 0, 100, 2])
    #expect(throws: DecodingError.self) { try read([Int64].self, "[9223372036854775808]") }
    #expect(throws: DecodingError.self) { try read([Int64].self, "[1.5]") }
    #expect(throws: DecodingError.self) { try read([UInt8].self, "[256]") }
    #expect(throws: EncodingError.self) { try EventJSON.encode([Double.nan]) }
  }

  @Test func `a fault names the field`() throws {
    let text = try ours(Everything()).replacing("\"list\":[3,1,2]", with: "\"list\":[3,\"x\",2]")
    let error = #expect(throws: DecodingError.self) { try read(Everything.self, text) }
    #expect(error.map(EventJSON.explain) == "parts.[1].list.[1] is not of type Int64")
    let missing = try ours(Everything()).replacing("\"flag\":true,", with: "")
    let second = #expect(throws: DecodingError.self) { try read(Everything.self, missing) }
    #expect(second.map(EventJSON.explain) == "flag is missing")
  }
}
