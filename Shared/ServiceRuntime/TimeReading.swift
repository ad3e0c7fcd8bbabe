/// Reads a date, `2026-01-31`, or a time of RFC 3339, `2026-01-31T08:00:00.250+01:00`.
///
/// A date is its beginning in UTC. Years 1970 to 9999; fractions of a second are cut to milliseconds.
///
/// - Returns: UTC milliseconds since 1970; nil for anything else.
public func milliseconds(rfc3339 text: String) -> Int64? {
  var reader = TimeDigits(text)
  guard let year = reader.number(4), reader.take("-"), let month = reader.number(2),
    reader.take("-"), let day = reader.number(2), year >= 1970, (1...12).contains(month),
    (1...daysOf(month: month, year: year)).contains(day)
  else { return nil }
  let midnight = daysSince1970(year: year, month: month, day: day) * 86_400_000
  if reader.isAtEnd { return midnight }
  guard reader.take("T") || reader.take("t"), let hour = reader.number(2), reader.take(":"),
    let minute = reader.number(2), reader.take(":"), let second = reader.number(2),
    hour < 24, minute < 60, second < 60
  else { return nil }
  var fraction: Int64 = 0
  if reader.take(".") {
    guard let read = reader.fraction() else { return nil }
    fraction = read
  }
  guard let offset = reader.offset(), reader.isAtEnd else { return nil }
  return midnight + (hour * 3600 + minute * 60 + second) * 1000 + fraction - offset * 60_000
}

private func daysOf(month: Int64, year: Int64) -> Int64 {
  switch month {
  case 4, 6, 9, 11: 30
  case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
  default: 31
  }
}

private func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
  let before = year - 1
  let leapDays = before / 4 - before / 100 + before / 400
  // 719,162 days lie between the beginning of year 1 and that of 1970.
  return before * 365 + leapDays - 719_162
    + (1..<month).reduce(0) { $0 + daysOf(month: $1, year: year) } + day - 1
}

private struct TimeDigits {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func number(_ digits: Int) -> Int64? {
    var number: Int64 = 0
    for _ in 0..<digits {
      guard let digit = digit() else { return nil }
      number = number * 10 + digit
    }
    return number
  }

  /// Milliseconds of 1 to 9 digits.
  mutating func fraction() -> Int64? {
    var milliseconds: Int64 = 0
    var count = 0
    while let digit = digit() {
      if count < 3 { milliseconds = milliseconds * 10 + digit }
      count += 1
    }
    guard (1...9).contains(count) else { return nil }
    for _ in 0..<max(0, 3 - count) { milliseconds *= 10 }
    return milliseconds
  }

  /// Minutes east of Greenwich.
  mutating func offset() -> Int64? {
    if take("Z") || take("z") { return 0 }
    let sign: Int64 = rest.first == UInt8(ascii: "-") ? -1 : 1
    guard take("+") || take("-"), let hours = number(2), take(":"), let minutes = number(2),
      hours < 24, minutes < 60
    else { return nil }
    return sign * (hours * 60 + minutes)
  }

  private mutating func digit() -> Int64? {
    guard let byte = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else {
      return nil
    }
    rest.removeFirst()
    return Int64(byte - UInt8(ascii: "0"))
  }
}
