import FoundationEssentials
import Testing

import struct Catalog.Period

@Suite("Period")
struct PeriodTests {
  private func ms(_ text: String) throws -> Int64 {
    Int64(try Date(text, strategy: Date.ISO8601FormatStyle()).timeIntervalSince1970) * 1000
  }

  @Test(arguments: ["P3D", "P1W", "P2W", "P1M", "P2M", "P6M", "P1Y", "P90D", "P9999D"])
  func `a text read and written again is the same text`(text: String) throws {
    #expect(try #require(Period(text)).description == text)
  }

  @Test(arguments: [
    "", "P", "P1", "PM", "1M", "P0D", "P-1D", "P+1D", "P1.5M", "P1M1D", "PT1H", "p1m", "P1m",
    "P10000D", "P99999999999999999999D", " P1M", "P1M ", "P١M",
  ])
  func `a text of another form is no period`(text: String) {
    #expect(Period(text) == nil)
  }

  @Test(arguments: [
    ("P3D", "2024-02-27T23:59:59Z", "2024-03-01T23:59:59Z"),
    ("P1W", "2025-12-29T10:00:00Z", "2026-01-05T10:00:00Z"),
    ("P1M", "2025-01-31T12:30:15Z", "2025-02-28T12:30:15Z"),
    ("P1M", "2024-01-31T12:30:15Z", "2024-02-29T12:30:15Z"),
    ("P1M", "2025-02-28T00:00:00Z", "2025-03-28T00:00:00Z"),
    ("P1M", "2025-12-15T00:00:00Z", "2026-01-15T00:00:00Z"),
    ("P2M", "2025-12-31T00:00:00Z", "2026-02-28T00:00:00Z"),
    ("P6M", "2025-08-31T00:00:00Z", "2026-02-28T00:00:00Z"),
    ("P1Y", "2024-02-29T08:00:00Z", "2025-02-28T08:00:00Z"),
    ("P4Y", "2024-02-29T08:00:00Z", "2028-02-29T08:00:00Z"),
    ("P1Y", "1999-02-28T00:00:00Z", "2000-02-28T00:00:00Z"),
    ("P4Y", "2096-02-29T00:00:00Z", "2100-02-28T00:00:00Z"),
    ("P1M", "2000-01-31T00:00:00Z", "2000-02-29T00:00:00Z"),
    ("P1M", "1900-01-31T00:00:00Z", "1900-02-28T00:00:00Z"),
    ("P1M", "1969-12-31T23:00:00Z", "1970-01-31T23:00:00Z"),
    ("P1M", "1968-01-31T23:00:00Z", "1968-02-29T23:00:00Z"),
  ])
  func `months and years end on the same day or the last one the month has`(
    period: String, from: String, to: String
  ) throws {
    #expect(try #require(Period(period)).end(after: try ms(from)) == ms(to))
  }

  @Test func `milliseconds of the day are kept`() throws {
    let start = try ms("2025-01-31T00:00:00Z") + 789
    let end = try ms("2025-02-28T00:00:00Z") + 789
    #expect(try #require(Period("P1M")).end(after: start) == end)
  }

  @Test func `repeated months do not drift away from the anchor's day`() throws {
    let month = try #require(Period("P1M"))
    let anchor = try ms("2025-01-31T09:00:00Z")
    let ends = try ["2025-02-28", "2025-03-31", "2025-04-30", "2025-05-31"].map {
      try ms("\($0)T09:00:00Z")
    }
    #expect((1...4).map { month.end(after: anchor, count: $0) } == ends)
    #expect(month.end(after: anchor, count: 0) == anchor)
    #expect(try month.end(after: anchor, count: 13) == ms("2026-02-28T09:00:00Z"))
    #expect(try month.end(after: anchor, count: -2) == ms("2024-11-30T09:00:00Z"))
  }

  @Test func `dates of 400 years agree with the calendar of Foundation`() throws {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    let month = try #require(Period("P1M"))
    let year = try #require(Period("P1Y"))
    // A step of 13 days meets every day of the month.
    for day in stride(from: Int64(-36_525), to: 109_572, by: 13) {
      let start = Date(timeIntervalSince1970: Double(day * 86_400))
      let later = try #require(calendar.date(byAdding: .month, value: 1, to: start))
      let muchLater = try #require(calendar.date(byAdding: .year, value: 1, to: start))
      #expect(month.end(after: day * 86_400_000) == Int64(later.timeIntervalSince1970) * 1000)
      #expect(year.end(after: day * 86_400_000) == Int64(muchLater.timeIntervalSince1970) * 1000)
    }
  }

  @Test(arguments: ["P9999D", "P9999W", "P9999M", "P9999Y"])
  func `what cannot be held becomes the nearest value instead of a trap`(text: String) throws {
    let period = try #require(Period(text))
    #expect(period.end(after: .max) == .max)
    #expect(period.end(after: 0, count: .max) == .max)
    #expect(period.end(after: 0, count: .min) == .min)
    #expect(period.end(after: .min, count: .max) == .max)
    #expect(period.end(after: .min) > .min)
  }
}
