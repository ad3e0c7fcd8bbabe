import Catalog
import Testing

@Suite("Texts that are not JSON")
struct JSONFaultTests {
  private func place(of text: [UInt8]) -> [Int] {
    do {
      _ = try Catalog(json: text, file: "c.json")
    } catch .invalidJSON(let file, let line, let column, let problem) {
      #expect(file == "c.json" && !problem.isEmpty)
      return [line, column]
    } catch {
      Issue.record("another error: \(error)")
    }
    return []
  }

  @Test(arguments: [
    ("", 1, 1), ("{", 1, 2), ("{\n  \"a\": 1,\n}", 3, 1), ("{\"a\" 1}", 1, 6),
    ("{\n\n\"a\": nul}", 3, 6), ("{} x", 1, 4), ("[1 2]", 1, 4), ("{\"a\": 01}", 1, 9),
    ("{\"a\": 1.}", 1, 9), ("{\"a\": 1e}", 1, 9), ("{\"a\": -}", 1, 8), ("{'a': 1}", 1, 2),
    ("{\"a\n\": 1}", 1, 4), ("\"\\x\"", 1, 3), ("\"\\u12g4\"", 1, 6), ("\"\\ud800x\"", 1, 8),
    ("\"\\ud800\\u0041\"", 1, 14), ("\"\\udc00\"", 1, 8), ("\"abc", 1, 5), ("[1,]", 1, 4),
  ])
  func `the error names line and column`(text: String, line: Int, column: Int) {
    #expect(place(of: Array(text.utf8)) == [line, column])
  }

  @Test func `bytes that are not UTF-8 are refused`() {
    #expect(place(of: [0x22, 0xFF, 0x22]) == [1, 3])
  }

  @Test func `a file cut off anywhere is refused`() throws {
    let whole = try TestFiles.bytes(TestFiles.storeKit("v5-storekithelper-code-offer"))
    let end = try #require(whole.lastIndex(of: UInt8(ascii: "}")))
    for length in 0...end {
      #expect(throws: CatalogError.self) { try Catalog(storeKit: Array(whole[..<length])) }
    }
  }

  @Test func `deep nesting is refused before it can exhaust the stack`() {
    #expect(place(of: Array(repeating: 0x5B, count: 1_000_000)) == [1, 65])
  }

  @Test func `escapes, a byte order mark and other scripts are read`() throws {
    let text = #"""
      {"products": {"a\u002Eb": {"kind": "consumable", "displayPrice": "1",
       "referenceName": "\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00 ü"}}}
      """#
    let catalog = try Catalog(json: [0xEF, 0xBB, 0xBF] + Array(text.utf8))
    #expect(catalog.product("a.b")?.referenceName == "\"\\/\u{8}\u{c}\n\r\té😀 ü")
  }

  @Test func `a file beyond the limit is refused unread`() {
    let text = [UInt8](repeating: 0x20, count: Catalog.largestFile + 1)
    #expect(throws: CatalogError.tooLarge(path: "c.json")) {
      try Catalog(json: text, file: "c.json")
    }
  }
}
