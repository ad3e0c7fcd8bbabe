import SQLite
import Testing

@Suite struct `Values` {
  let store = TemporaryStore()

  /// Writes a value and reads it back, with the type that SQLite stored.
  private func roundTrip(_ value: (any Bindable)?) async throws -> (Value?, String?) {
    let written = value?.sqliteValue ?? .null
    let writer = try store.writer()
    return try await writer.write { transaction in
      try transaction.run("CREATE TABLE any_value (value ANY) STRICT")
      try transaction.run("INSERT INTO any_value VALUES (?)", written)
      return (
        try transaction.first("SELECT value FROM any_value") { $0.value(0) },
        try transaction.first("SELECT typeof(value) FROM any_value") { $0.text(0) }
      )
    }
  }

  @Test(arguments: [
    "", "plain", "čeština, 日本語, 👩‍👩‍👧‍👦", "e\u{301}", "a\0b", "\0", "quotes ' \" and \\",
    String(repeating: "long ", count: 10_000),
  ])
  func `text comes back byte for byte`(_ text: String) async throws {
    let (value, type) = try await roundTrip(text)
    guard case .text(let back)? = value else {
      Issue.record("not a text: \(String(describing: value))")
      return
    }
    #expect(Array(back.utf8) == Array(text.utf8))
    #expect(type == "text")
  }

  @Test(arguments: [Int64.min, -1, 0, 1, Int64(Int32.max) + 1, .max])
  func `integers keep all 64 bits`(_ number: Int64) async throws {
    let (value, type) = try await roundTrip(number)
    #expect(value == .integer(number))
    #expect(type == "integer")
  }

  @Test(arguments: [0.5, -.greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity])
  func `real numbers keep their bits`(_ number: Double) async throws {
    let (value, type) = try await roundTrip(number)
    #expect(value == .real(number))
    #expect(type == "real")
  }

  @Test(arguments: [[], [0], [0, 1, 0, 255], [UInt8](repeating: 9, count: 100_000)])
  func `bytes come back, and none are not NULL`(_ bytes: [UInt8]) async throws {
    let (value, type) = try await roundTrip(bytes)
    #expect(value == .blob(bytes))
    #expect(type == "blob")
  }

  @Test func `nothing is NULL`() async throws {
    let (value, type) = try await roundTrip(nil)
    #expect(value == .null)
    #expect(type == "null")
  }

  @Test func `every kind of value binds and reads`() async throws {
    let writer = try store.writer()
    let missing: String? = nil
    let present: Int? = 5
    let isRight = try await writer.write { transaction in
      try transaction.first(
        "SELECT ?, ?, ?, ?, ?, ?, ?, ?", 1, Int32(2), Int64(3), true, "five", [UInt8(6)], missing,
        present
      ) { row in
        row.int(0) == 1 && row.optionalInt(1) == 2 && row.double(2) == 3 && row.bool(3)
          && row.optionalText(4) == "five" && row.optionalBlob(5) == [6] && row.isNull(6)
          && row.optionalText(6) == nil && row.optionalInt(6) == nil && row.optionalBlob(6) == nil
          && row.optionalDouble(6) == nil && row.text(6) == "" && row.blob(6) == []
          && row.int(7) == 5
      }
    }
    #expect(isRight == true)
  }
}
