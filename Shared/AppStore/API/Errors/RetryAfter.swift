/// The header `Retry-After`: Apple means UNIX milliseconds, others seconds or a date (RFC 9110).
enum RetryAfter {
  /// Numbers from here on are UNIX milliseconds (year 1973).
  private static let leastMilliseconds: Int64 = 100_000_000_000
  /// Smaller numbers from here on are UNIX seconds (year 2001), and those below seconds to wait.
  private static let leastSeconds: Int64 = 1_000_000_000
  /// Nothing waits longer, in milliseconds: what says more is wrong.
  private static let longest: Int64 = 86_400_000

  /// The time from `now` (UNIX milliseconds); nil for text of another form, zero for the past.
  static func wait(_ text: String, now: Int64) -> Duration? {
    let text = text.filter { !$0.isWhitespace }
    let milliseconds: Int64
    if let number = Int64(text) {
      guard number >= 0 else { return nil }
      if number >= leastMilliseconds {
        milliseconds = number - now
      } else if number >= leastSeconds {
        milliseconds = number * 1000 - now
      } else {
        milliseconds = number * 1000
      }
    } else if let date = date(text) {
      milliseconds = date - now
    } else {
      return nil
    }
    return .milliseconds(min(max(0, milliseconds), longest))
  }

  /// UNIX milliseconds of a date such as `Sun, 06 Nov 1994 08:49:37 GMT` without its spaces.
  private static func date(_ text: String) -> Int64? {
    let characters = Array(text.utf8)
    guard characters.count == 24, text.hasSuffix("GMT"), characters[3] == UInt8(ascii: ",") else {
      return nil
    }
    func number(_ range: Range<Int>) -> Int64? {
      Int64(String(decoding: characters[range], as: UTF8.self))
    }
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let name = String(decoding: characters[6..<9], as: UTF8.self)
    guard let day = number(4..<6), let month = months.firstIndex(of: name),
      let year = number(9..<13), let hour = number(13..<15), let minute = number(16..<18),
      let second = number(19..<21), characters[15] == UInt8(ascii: ":"),
      characters[18] == UInt8(ascii: ":"), (1970...9999).contains(year)
    else { return nil }
    let time = ((days(year, Int64(month) + 1, day) * 24 + hour) * 60 + minute) * 60 + second
    return time * 1000
  }

  /// Days since 1970 of a date of the Gregorian calendar.
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    // Counted from March, so that the leap day comes last.
    let shifted = month > 2 ? year : year - 1
    let fromMarch = (month + 9) % 12
    let dayOfYear = (153 * fromMarch + 2) / 5 + day - 1
    return shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + dayOfYear - 719_468
  }
}
