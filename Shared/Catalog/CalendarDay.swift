/// A day of the proleptic Gregorian calendar.
///
/// The conversions count from 1 March, so that the leap day is the last of a year, in eras of 400
/// years, which all have 146,097 days.
struct CalendarDay: Equatable {
  let year: Int64
  /// 1 to 12.
  let month: Int64
  /// 1 to 31.
  let day: Int64

  static let milliseconds: Int64 = 86_400_000
  private static let daysPerEra: Int64 = 146_097
  /// From 1 March of year 0 to 1 January 1970.
  private static let daysTo1970: Int64 = 719_468

  init(year: Int64, month: Int64, day: Int64) {
    self.year = year
    self.month = month
    self.day = day
  }

  init(daysSince1970 days: Int64) {
    let shifted = days + Self.daysTo1970
    let era = shifted.floorDivided(by: Self.daysPerEra)
    let dayOfEra = shifted - era * Self.daysPerEra
    let leapDays = dayOfEra / 1_460 - dayOfEra / 36_524 + dayOfEra / 146_096
    let yearOfEra = (dayOfEra - leapDays) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    self.day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    self.month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    self.year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  }

  var daysSince1970: Int64 {
    let marchYear = month <= 2 ? year - 1 : year
    let era = marchYear.floorDivided(by: 400)
    let yearOfEra = marchYear - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * Self.daysPerEra + dayOfEra - Self.daysTo1970
  }

  /// The same day of a later month, or that month's last day if it has fewer.
  func adding(months: Int64) -> CalendarDay {
    let total = year * 12 + (month - 1) + months
    let newYear = total.floorDivided(by: 12)
    let newMonth = total - newYear * 12 + 1
    let last = Self.days(inMonth: newMonth, of: newYear)
    return CalendarDay(year: newYear, month: newMonth, day: Swift.min(day, last))
  }

  private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }
}

extension Int64 {
  /// The quotient rounded down, also for negative values; `divisor` is positive.
  func floorDivided(by divisor: Int64) -> Int64 {
    let quotient = self / divisor
    return self % divisor < 0 ? quotient - 1 : quotient
  }
}
