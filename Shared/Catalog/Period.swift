/// A length of calendar time of one unit, as ISO 8601 writes it: `P3D`, `P1W`, `P1M`, `P1Y`.
public struct Period: Sendable, Hashable, CustomStringConvertible {
  /// The units that Apple uses.
  public enum Unit: Character, Sendable, Hashable, CaseIterable {
    /// 24 hours, since UTC has no other days.
    case day = "D"
    /// Seven days.
    case week = "W"
    /// A calendar month.
    case month = "M"
    /// Twelve calendar months.
    case year = "Y"
  }

  /// The unit.
  public let unit: Unit
  /// How many of the unit, 1 to 9999.
  public let value: Int

  /// Makes a period of `value` units; nil outside 1 to 9999.
  public init?(_ value: Int, _ unit: Unit) {
    guard (1...9999).contains(value) else { return nil }
    self.value = value
    self.unit = unit
  }

  /// Reads `P<number><D|W|M|Y>`; nil for all else, also for periods of several units.
  public init?(_ text: String) {
    guard text.utf8.count <= 8, text.first == "P", let last = text.last,
      let unit = Unit(rawValue: last)
    else { return nil }
    let digits = text.dropFirst().dropLast()
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }),
      let value = Int(digits)
    else { return nil }
    self.init(value, unit)
  }

  /// The ISO 8601 text.
  public var description: String { "P\(value)\(unit.rawValue)" }

  /// When the period that begins at `ms` ends; both in milliseconds since 1970, UTC.
  ///
  /// Months and years keep day and time; a day that the month lacks becomes its last one.
  public func end(after ms: Int64) -> Int64 { end(after: ms, count: 1) }

  /// When the last of `count` periods in a row ends, the first of which begins at `ms`.
  ///
  /// Counted from `ms`, not from period to period: from 31 January the third month ends on
  /// 30 April, though the first ended in February. A negative count goes back, and what an `Int64`
  /// cannot hold becomes its nearest value.
  public func end(after ms: Int64, count: Int) -> Int64 {
    // 128 bits hold every product here, so only the result has to be bounded.
    let steps = Int128(count) * Int128(value)
    switch unit {
    case .day: return Self.add(days: steps, to: ms)
    case .week: return Self.add(days: steps * 7, to: ms)
    case .month: return Self.add(months: steps, to: ms)
    case .year: return Self.add(months: steps * 12, to: ms)
    }
  }

  private static func add(days: Int128, to ms: Int64) -> Int64 {
    Int64(clamping: Int128(ms) + days * Int128(CalendarDay.milliseconds))
  }

  private static func add(months: Int128, to ms: Int64) -> Int64 {
    // More months than an Int64 of milliseconds has; keeps the calendar arithmetic in range.
    let limit: Int128 = 100_000_000_000
    let bounded = Int64(Swift.min(Swift.max(months, -limit), limit))
    let start = ms.floorDivided(by: CalendarDay.milliseconds)
    let moved = CalendarDay(daysSince1970: start).adding(months: bounded).daysSince1970
    return add(days: Int128(moved) - Int128(start), to: ms)
  }
}
