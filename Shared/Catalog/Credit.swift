/// An amount of a consumable unit that a purchase brings, and until when it can be used.
///
/// ```json
/// "credits": {"coins": 100, "boosts": {"amount": 5, "expiresAfter": "P30D"}}
/// ```
public struct Credit: Sendable, Equatable {
  /// When what is left of a credit ends.
  public enum Expiry: Sendable, Hashable {
    /// So long after the purchase.
    case after(Period)
    /// With the period that was paid: a subscription's, or the length of a non-renewing product.
    case withPeriod
  }

  /// The unit, such as `coins`.
  public let unit: String
  /// How much of it, 1 to `Credit.largestAmount`.
  public let amount: Int64
  /// When what is left of it ends; nil means never.
  public let expiry: Expiry?
  /// Only for purchases at this time or later, UTC milliseconds.
  public let boughtFrom: Int64?
  /// Only for purchases before this time, UTC milliseconds.
  public let boughtUntil: Int64?

  /// Largest amount of one credit.
  ///
  /// Leaves room for nine million such credits in an `Int64`.
  public static let largestAmount: Int64 = 1_000_000_000_000

  /// Makes a credit.
  public init(
    unit: String, amount: Int64, expiry: Expiry? = nil, boughtFrom: Int64? = nil,
    boughtUntil: Int64? = nil
  ) {
    self.unit = unit
    self.amount = amount
    self.expiry = expiry
    self.boughtFrom = boughtFrom
    self.boughtUntil = boughtUntil
  }

  /// Whether a purchase of a time brings it.
  public func isFor(boughtAt time: Int64) -> Bool {
    (boughtFrom.map { $0 <= time } ?? true) && (boughtUntil.map { time < $0 } ?? true)
  }

  static let keys = ["amount", "expiresAfter", "boughtFrom", "boughtUntil"]

  /// Reads the member `unit` of an object: a number, or an object with an amount; nil with a fault.
  init?(_ unit: String, in reader: ObjectReader) {
    guard case .object? = reader.node(unit)?.value, let object = reader.object(unit) else {
      guard let amount = reader.integer(unit, in: 1...Self.largestAmount) else { return nil }
      self.init(unit: unit, amount: amount)
      return
    }
    object.reportRepeated()
    object.reportUnknown(except: Self.keys)
    object.require("amount", remedy: "write how much, from 1")
    let expiry =
      object.text("expiresAfter") == "period"
      ? Expiry.withPeriod : object.period("expiresAfter").map(Expiry.after)
    let (from, until) = (object.time("boughtFrom"), object.time("boughtUntil"))
    object.reportOrder("boughtFrom", from, "boughtUntil", until)
    guard let amount = object.integer("amount", in: 1...Self.largestAmount) else { return nil }
    self.init(
      unit: unit, amount: amount, expiry: expiry, boughtFrom: from, boughtUntil: until)
  }
}

extension Credit {
  /// The credit as `catalog.json` has it.
  var written: JSONValue {
    guard self != Credit(unit: unit, amount: amount) else { return .integer(amount) }
    let expiry: JSONValue? =
      switch self.expiry {
      case nil: nil
      case .after(let period): .string(period.description)
      case .withPeriod: .string("period")
      }
    return .members([
      "amount": .integer(amount), "expiresAfter": expiry,
      "boughtFrom": boughtFrom.map(CalendarDay.written),
      "boughtUntil": boughtUntil.map(CalendarDay.written),
    ])
  }
}
