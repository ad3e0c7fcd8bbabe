import AppStore
import Testing

@Suite("Reading JSON")
struct JSONReadingTests {
  private func product(_ literal: String) -> String? {
    try? TransactionPayload(json: Array("{\"productId\":\(literal)}".utf8)).productId
  }

  private func price(_ literal: String) -> Int64? {
    try? TransactionPayload(json: Array("{\"price\":\(literal)}".utf8)).price
  }

  private func date(_ literal: String) -> Int64? {
    try? TransactionPayload(json: Array("{\"signedDate\":\(literal)}".utf8)).signedDate
  }

  @Test func `escapes and every plane of Unicode are read`() {
    #expect(product(#""a\"\\\/\b\f\n\r\tz""#) == "a\"\\/\u{8}\u{C}\n\r\tz")
    #expect(product(#""\u00e9\u20AC""#) == "é€" && product("\"é€🎈\"") == "é€🎈")
    #expect(product(#""\ud83c\udf88""#) == "🎈")
    for bad in [
      #""\ud83c""#, #""\ud83cx""#, #""\udf88""#, #""\ud83c\u0041""#, #""\u12g4""#, #""\u+123""#,
      #""\x""#, #""\u12"#, "\"\u{1}\"", "\"open", #""open\""#,
    ] {
      #expect(product(bad) == nil, "\(bad)")
    }
    #expect(throws: PayloadFault.self) {
      try TransactionPayload(json: [0x7B, 0x22, 0xFF, 0x22, 0x3A, 0x31, 0x7D])
    }
  }

  @Test func `a name with escapes is the same name`() throws {
    let json = #"{"product\u0049d":"a"}"#
    #expect(try TransactionPayload(json: Array(json.utf8)).productId == "a")
  }

  @Test func `whole numbers keep their exact value to the ends of 64 bits`() {
    #expect(price("9223372036854775807") == .max && price("-9223372036854775808") == .min)
    #expect(price("0") == 0 && price("-0") == 0 && price("1990.0") == 1990 && price("2e3") == 2000)
    for bad in [
      "9223372036854775808", "1.5", "01", "-", "+1", ".5", "1.", "1e", "1e999", "0x1", "NaN",
      "\"1\"", "true", "1 2",
    ] {
      #expect(price(bad) == nil, "\(bad)")
    }
  }

  @Test func `fractions of a millisecond are cut towards the past`() {
    #expect(date("1697679936049.7297") == 1_697_679_936_049)
    #expect(date("-62135769600000") == -62_135_769_600_000 && date("-1.5") == -2)
    #expect(date("1.697679936049e12") == 1_697_679_936_049)
    #expect(date("1e300") == nil && date("\"1\"") == nil)
  }

  @Test func `nesting is bounded, so no payload can exhaust the stack`() {
    let deep = String(repeating: "[", count: 100_000)
    for json in ["{\"a\":\(deep)", "{\"a\":" + deep + String(repeating: "]", count: 100_000) + "}"]
    {
      #expect(throws: PayloadFault.self) { try TransactionPayload(json: Array(json.utf8)) }
    }
    let fair = String(repeating: "[", count: 20) + String(repeating: "]", count: 20)
    #expect(throws: Never.self) { try TransactionPayload(json: Array("{\"a\":\(fair)}".utf8)) }
  }
}
