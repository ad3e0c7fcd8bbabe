/// A right that a product gives, and the dates by which it does.
///
/// ```json
/// "entitlements": ["pro", {"name": "extra", "from": "2027-01-01", "boughtUntil": "2027-06-01"}]
/// ```
public struct Right: Sendable, Hashable {
  /// The right's name, such as `pro`.
  public let name: String
  /// From when it is given, to earlier buyers too, UTC milliseconds; nil means always.
  public let from: Int64?
  /// Until when it is given, UTC milliseconds; nil means without end.
  public let until: Int64?
  /// Only to those who bought at this time or later, UTC milliseconds.
  public let boughtFrom: Int64?
  /// Only to those who bought before this time, UTC milliseconds.
  public let boughtUntil: Int64?

  /// Makes a right; without dates it is given always and to all.
  public init(
    name: String, from: Int64? = nil, until: Int64? = nil, boughtFrom: Int64? = nil,
    boughtUntil: Int64? = nil
  ) {
    self.name = name
    self.from = from
    self.until = until
    self.boughtFrom = boughtFrom
    self.boughtUntil = boughtUntil
  }

  /// Whether it is for those who bought at a time; for a subscription the time when its present
  /// streak began.
  public func isFor(boughtAt time: Int64) -> Bool {
    (boughtFrom.map { $0 <= time } ?? true) && (boughtUntil.map { time < $0 } ?? true)
  }

  static let keys = ["name", "from", "until", "boughtFrom", "boughtUntil"]

  /// Reads a name, or an object with a name and dates; nil, with a fault, for all else.
  init?(_ node: JSONNode, at place: Place, faults: FaultCollector) {
    if case .string(let name) = node.value {
      self.init(name: name)
      return
    }
    guard case .object = node.value,
      let reader = ObjectReader(node, at: place, faults: faults)
    else {
      faults.add(
        place, "is \(node.value.kind)", remedy: "write a name in quotes, or an object with a name")
      return nil
    }
    reader.reportRepeated()
    reader.reportUnknown(except: Self.keys)
    reader.require("name", remedy: "write the right's name")
    guard let name = reader.text("name") else { return nil }
    self.init(
      name: name, from: reader.time("from"), until: reader.time("until"),
      boughtFrom: reader.time("boughtFrom"), boughtUntil: reader.time("boughtUntil"))
    reader.reportOrder("from", from, "until", until)
    reader.reportOrder("boughtFrom", boughtFrom, "boughtUntil", boughtUntil)
  }
}

extension ObjectReader {
  /// A day, at its beginning in UTC, or a time of a day: `2027-01-01` or `2027-01-01T12:00:00Z`.
  func time(_ key: String) -> Int64? {
    guard let text = text(key) else { return nil }
    guard let time = CalendarDay.milliseconds(text) else {
      faults.add(
        place(of: key), "is \(quoted(text)), no time",
        remedy: "write a day such as \"2027-01-01\", or \"2027-01-01T12:00:00Z\"")
      return nil
    }
    return time
  }

  func reportOrder(_ first: String, _ from: Int64?, _ second: String, _ until: Int64?) {
    guard let from, let until, until <= from else { return }
    faults.add(
      place(of: second), "is not after \(first)", remedy: "write a later time, or remove one")
  }
}

extension CalendarDay {
  /// UTC milliseconds of `YYYY-MM-DD` or `YYYY-MM-DDThh:mm:ssZ`; nil for all else.
  static func milliseconds(_ text: String) -> Int64? {
    let bytes = Array(text.utf8)
    guard bytes.count == 10 || bytes.count == 20 else { return nil }
    let form = Array("0000-00-00T00:00:00Z".utf8.prefix(bytes.count))
    var numbers: [Int64] = [0]
    for (byte, wanted) in zip(bytes, form) {
      if wanted == UInt8(ascii: "0") {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        numbers[numbers.count - 1] = numbers[numbers.count - 1] * 10 + Int64(byte - 48)
      } else {
        guard byte == wanted else { return nil }
        numbers.append(0)
      }
    }
    let day = CalendarDay(year: numbers[0], month: numbers[1], day: numbers[2])
    guard (1...12).contains(day.month), day == CalendarDay(daysSince1970: day.daysSince1970) else {
      return nil
    }
    let clock = bytes.count == 20 ? Array(numbers[3...5]) : [0, 0, 0]
    guard clock[0] < 24, clock[1] < 60, clock[2] < 60 else { return nil }
    return day.daysSince1970 * Self.milliseconds
      + (clock[0] * 3600 + clock[1] * 60 + clock[2]) * 1000
  }
}

extension Right {
  /// The right as `catalog.json` has it.
  var written: JSONValue {
    guard self != Right(name: name) else { return .string(name) }
    return .members([
      "name": .string(name), "from": from.map(CalendarDay.written),
      "until": until.map(CalendarDay.written), "boughtFrom": boughtFrom.map(CalendarDay.written),
      "boughtUntil": boughtUntil.map(CalendarDay.written),
    ])
  }
}

extension CalendarDay {
  /// The time as `catalog.json` has it; the opposite of `milliseconds(_:)`.
  static func written(_ milliseconds: Int64) -> JSONValue {
    let days = milliseconds.floorDivided(by: Self.milliseconds)
    let day = CalendarDay(daysSince1970: days)
    let seconds = (milliseconds - days * Self.milliseconds) / 1000
    func digits(_ number: Int64, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let date = "\(digits(day.year, 4))-\(digits(day.month, 2))-\(digits(day.day, 2))"
    guard seconds > 0 else { return .string(date) }
    let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { digits($0, 2) }
    return .string("\(date)T\(clock.joined(separator: ":"))Z")
  }
}
