/// Dates as receipts write them (RFC 3339), such as `2020-07-22T17:39:08Z`.
enum ReceiptDate {
  /// UNIX milliseconds, or nil for text of another form and for a day that does not exist.
  ///
  /// A fraction is cut to milliseconds; an offset is counted. `verifyReceipt` writes a space and
  /// ` Etc/GMT` instead of `T` and `Z`, which is read as well.
  static func milliseconds(_ text: String) -> Int64? {
    var digits = DateText(text)
    guard let year = digits.number(4), digits.take("-"), let month = digits.number(2),
      digits.take("-"), let day = digits.number(2), digits.take("T") || digits.take(" "),
      let hour = digits.number(2), digits.take(":"), let minute = digits.number(2),
      digits.take(":"), let second = digits.number(2),
      (1...12).contains(month), day >= 1, day <= length(ofMonth: month, year),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    let fraction = digits.take(".") ? digits.thousandths() : 0
    guard let fraction, let offset = digits.offset() else { return nil }
    let seconds = days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    return seconds * 1000 + fraction
  }

  private static func length(ofMonth month: Int64, _ year: Int64) -> Int64 {
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    switch month {
    case 2: return isLeap ? 29 : 28
    case 4, 6, 9, 11: return 30
    default: return 31
    }
  }

  /// Days since 1970-01-01 in the Gregorian calendar, the year beginning in March.
  static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month > 2 ? year : year - 1
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let monthFromMarch = (month + 9) % 12
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}

/// Walks over the characters of a date.
private struct DateText {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func number(_ count: Int) -> Int64? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
    rest = rest.dropFirst(count)
    return digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
  }

  /// The digits after the point, as milliseconds.
  mutating func thousandths() -> Int64? {
    let digits = rest.prefix { (48...57).contains($0) }
    guard !digits.isEmpty else { return nil }
    rest = rest.dropFirst(digits.count)
    var value: Int64 = 0
    var place: Int64 = 100
    for digit in digits.prefix(3) {
      value += Int64(digit - 48) * place
      place /= 10
    }
    return value
  }

  /// Seconds east of Greenwich; nil unless the text ends with a zone.
  mutating func offset() -> Int64? {
    if rest.elementsEqual("Z".utf8) || rest.elementsEqual(" Etc/GMT".utf8) { return 0 }
    let sign: Int64 = take("-") ? -1 : take("+") ? 1 : 0
    guard sign != 0, let hours = number(2), take(":"), let minutes = number(2), rest.isEmpty,
      hours < 24, minutes < 60
    else { return nil }
    return sign * (hours * 3600 + minutes * 60)
  }
}
