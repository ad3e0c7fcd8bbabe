/// Writes a time as RFC 3339 in UTC with milliseconds, such as `2026-01-31T08:00:00.250Z`.
///
/// In whole numbers, not through `Date`, whose seconds in floating point lose a millisecond now and
/// then.
public func rfc3339(_ milliseconds: Int64) -> String {
  let (days, inDay) = dividedDown(milliseconds, by: 86_400_000)
  let (year, month, day) = civilDate(daysSince1970: days)
  let (seconds, fraction) = inDay.quotientAndRemainder(dividingBy: 1000)
  var text = ""
  text.reserveCapacity(24)
  append(year, digits: 4, "-", to: &text)
  append(month, digits: 2, "-", to: &text)
  append(day, digits: 2, "T", to: &text)
  append(seconds / 3600, digits: 2, ":", to: &text)
  append(seconds / 60 % 60, digits: 2, ":", to: &text)
  append(seconds % 60, digits: 2, ".", to: &text)
  append(fraction, digits: 3, "Z", to: &text)
  return text
}

/// Year, month and day of the Gregorian calendar.
private func civilDate(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
  // The calendar repeats every 400 years of 146,097 days. Years are counted here from 1 March 2000,
  // so that the leap day is the last of its year, of its 4, 100 and 400 years.
  let (cycles, inCycle) = dividedDown(days - 11_017, by: 146_097)
  let centuries = min(inCycle / 36_524, 3)
  let inCentury = inCycle - centuries * 36_524
  let leapCycles = inCentury / 1461
  let inLeapCycle = inCentury - leapCycles * 1461
  let years = min(inLeapCycle / 365, 3)
  var day = inLeapCycle - years * 365
  var year = 2000 + cycles * 400 + centuries * 100 + leapCycles * 4 + years
  var month: Int64 = 3
  for length: Int64 in [31, 30, 31, 30, 31, 31, 30, 31, 30, 31, 31] {
    if day < length { break }
    day -= length
    month += 1
  }
  if month > 12 {
    month -= 12
    year += 1
  }
  return (year, month, day + 1)
}

/// Quotient rounded down and a remainder that is never negative.
private func dividedDown(_ number: Int64, by divisor: Int64) -> (Int64, Int64) {
  let (quotient, remainder) = number.quotientAndRemainder(dividingBy: divisor)
  return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
}

private func append(_ number: Int64, digits: Int, _ end: String, to text: inout String) {
  let written = String(number)
  for _ in 0..<max(0, digits - written.utf8.count) { text += "0" }
  text += written
  text += end
}
