import JSON
import Testing

@Suite("Reading fields of JSON")
struct JSONFieldsTests {
  private func fields(_ text: String) throws -> JSONFields { try JSONFields(Array(text.utf8)) }

  private func fault(_ read: () throws -> Void) -> String? {
    do {
      try read()
      return nil
    } catch {
      return (error as? JSONFieldFault)?.description
    }
  }

  @Test func `a field is named with its whole path when it is missing or of another type`() throws {
    let fields = try fields(#"{"a":{"b":[{"c":1},{"c":"x"},{}],"n":1.5}}"#)
    func c(_ element: JSONFields) throws(JSONFieldFault) -> Int64 { try element.number("c") }
    func b(_ object: JSONFields) throws(JSONFieldFault) -> [Int64] { try object.objects("b", c) }
    func n(_ object: JSONFields) throws(JSONFieldFault) -> Int64 { try object.number("n") }
    func z(_ object: JSONFields) throws(JSONFieldFault) -> String { try object.text("z") }
    #expect(
      fault { _ = try fields.object("a", b) } == "a.b.[1].c is not a whole number of 64 bits")
    #expect(fault { _ = try fields.object("a", n) } == "a.n is not a whole number of 64 bits")
    #expect(fault { _ = try fields.object("a", z) } == "a.z is missing")
    #expect(fault { _ = try fields.text("a") } == "a is not text")
    #expect(fault { _ = try fields.bool("a") } == "a is not true or false")
    #expect(fault { _ = try fields.objects("a", c) } == "a is not a list")
  }

  @Test func `text that is no object is refused with the byte at which reading stopped`() {
    #expect(fault { _ = try fields("{\"a\":1") }?.contains("not JSON at byte 6") == true)
    #expect(fault { _ = try fields("[1]") }?.contains("not JSON at byte 0") == true)
    #expect(fault { _ = try JSONFields([0x7B, 0xFF, 0x7D]) } != nil)
  }

  @Test func `null is absent, an unknown field is ignored, the first of two equal names counts`()
    throws
  {
    let fields = try fields(#"{"x":null,"y":{"deep":[1,{"er":null}]},"t":"a","t":"b","b":false}"#)
    #expect(try fields.optionalText("x") == nil)
    #expect(try fields.optionalNumber("nothing") == nil)
    #expect(try fields.text("t") == "a")
    #expect(try fields.bool("b") == false)
    #expect(try fields.optionalTexts("x") == nil)
  }
}
