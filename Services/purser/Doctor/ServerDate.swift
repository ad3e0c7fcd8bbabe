/// The date of an HTTP answer (RFC 9110 §5.6.7), such as `Mon, 30 Nov 2026 12:00:00 GMT`.
enum ServerDate {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// UNIX milliseconds; nil for text of another form.
  static func milliseconds(_ text: String) -> Int64? {
    let parts = text.split(separator: " ")
    guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]),
      let month = months.firstIndex(of: String(parts[2])), let year = Int64(parts[3]),
      (1...31).contains(day), (1970...9999).contains(year)
    else { return nil }
    let time = parts[4].split(separator: ":").compactMap { Int64($0) }
    guard time.count == 3, (0..<24).contains(time[0]), (0..<60).contains(time[1]),
      (0...60).contains(time[2])
    else { return nil }
    let seconds = time[0] * 3600 + time[1] * 60 + time[2]
    return (days(year, Int64(month) + 1, day) * 86_400 + seconds) * 1000
  }

  /// Days since 1970-01-01 in the Gregorian calendar, the year beginning in March.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month > 2 ? year : year - 1
    let (era, inEra) = year.quotientAndRemainder(dividingBy: 400)
    let inYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + inEra * 365 + inEra / 4 - inEra / 100 + inYear - 719_468
  }
}
