/// Dates as receipts and `verifyReceipt` write them, in whole seconds.
extension ReceiptDate {
  /// Such as `2020-07-22T17:39:08Z`.
  static func text(_ milliseconds: Int64) -> String {
    let parts = Parts(milliseconds)
    return "\(parts.date)T\(parts.time)Z"
  }

  /// Such as `2020-07-14 19:33:26 Etc/GMT`.
  static func greenwichText(_ milliseconds: Int64) -> String {
    let parts = Parts(milliseconds)
    return "\(parts.date) \(parts.time) Etc/GMT"
  }

  /// Such as `2020-07-14 12:33:26 America/Los_Angeles`.
  static func losAngelesText(_ milliseconds: Int64) -> String {
    let hours: Int64 = isLosAngelesSummer(milliseconds) ? -7 : -8
    let parts = Parts(milliseconds + hours * 3_600_000)
    return "\(parts.date) \(parts.time) America/Los_Angeles"
  }

  /// The rule of the United States since 2007: second Sunday of March to first of November, both at
  /// 2 o'clock local time.
  private static func isLosAngelesSummer(_ milliseconds: Int64) -> Bool {
    let year = Parts(milliseconds).year
    func sunday(onOrAfter day: Int64, _ month: Int64) -> Int64 {
      let first = days(year, month, day)
      // 1970-01-01 was a Thursday.
      return first + (10 - first % 7) % 7
    }
    let begin = (sunday(onOrAfter: 8, 3) * 24 + 10) * 3_600_000
    let end = (sunday(onOrAfter: 1, 11) * 24 + 9) * 3_600_000
    return (begin..<end).contains(milliseconds)
  }

  private struct Parts {
    let year: Int64
    let date: String
    let time: String

    init(_ milliseconds: Int64) {
      let seconds = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
      let day = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
      let rest = seconds - day * 86_400
      // Days since 0000-03-01, in eras of 400 years.
      let shifted = day + 719_468
      let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
      let dayOfEra = shifted - era * 146_097
      let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
      let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
      let monthFromMarch = (5 * dayOfYear + 2) / 153
      let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
      year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
      let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
      date = "\(Self.padded(year, 4))-\(Self.padded(month))-\(Self.padded(dayOfMonth))"
      time =
        "\(Self.padded(rest / 3600)):\(Self.padded(rest / 60 % 60)):\(Self.padded(rest % 60))"
    }

    private static func padded(_ number: Int64, _ count: Int = 2) -> String {
      let digits = String(number)
      return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
  }
}
