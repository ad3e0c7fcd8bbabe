import ServiceRuntime

/// From where a topic is read.
enum StartingPlace: Sendable, Equatable {
  case beginning
  case end
  /// UTC milliseconds.
  case time(Int64)
  case offset(Int64)

  /// Reads what stands behind `--from`, or another option.
  init(_ text: String, now: Int64, _ arguments: Arguments, option: String = "--from")
    throws(UsageError)
  {
    if text == "beginning" {
      self = .beginning
    } else if text == "end" {
      self = .end
    } else if let offset = Int64(text), offset >= 0 {
      self = .offset(offset)
    } else if let age = Self.age(text) {
      self = .time(now - age)
    } else if let time = milliseconds(rfc3339: text) {
      self = .time(time)
    } else {
      throw arguments.error(
        "\(option) is '\(text)'; give beginning, end, a time such as 2026-05-01T12:00:00Z, "
          + "an age such as 15m, or an offset")
    }
  }

  /// Milliseconds of an age such as `15m`.
  static func age(_ text: String) -> Int64? {
    let units: [Character: Int64] = ["s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
    guard let last = text.last, let unit = units[last], let count = Int64(text.dropLast()),
      (0...1_000_000).contains(count)
    else { return nil }
    return count * unit
  }
}
