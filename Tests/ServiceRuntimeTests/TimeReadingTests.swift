import ServiceRuntime
import Testing

@Suite("Times as text")
struct TimeReadingTests {
  @Test(
    arguments: [
      ("1970-01-01", 0), ("1970-01-01T00:00:00Z", 0), ("2000-03-01", 951_868_800_000),
      ("2024-02-29", 1_709_164_800_000), ("2027-01-15T08:00:00Z", 1_800_000_000_000),
      ("2027-01-15T09:00:00.250+01:00", 1_800_000_000_250),
      ("2027-01-15t02:30:00.1239-05:30", 1_800_000_000_123),
      ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ] as [(String, Int64)])
  func `a date or time is read to the millisecond`(text: String, expected: Int64) {
    #expect(milliseconds(rfc3339: text) == expected)
  }

  @Test func `what was written is read as it was`() {
    for time: Int64 in [0, 1, 951_782_400_000, 1_709_251_199_999, 4_102_444_800_000] {
      #expect(milliseconds(rfc3339: rfc3339(time)) == time)
    }
  }

  @Test(
    arguments: [
      "", "2027", "2027-1-1", "2027-13-01", "2027-02-29", "2100-02-29", "1969-12-31", "2027-01-01T",
      "2027-01-01T08:00", "2027-01-01T08:00:00", "2027-01-01T24:00:00Z", "2027-01-01T08:60:00Z",
      "2027-01-01T08:00:00.Z", "2027-01-01T08:00:00+1:00", "2027-01-01 08:00:00Z", "2027-01-01Z",
      "٢٠٢٧-01-01",
    ])
  func `anything else is no time`(text: String) { #expect(milliseconds(rfc3339: text) == nil) }
}
