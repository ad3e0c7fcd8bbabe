/// Any JSON value; whole numbers of 64 bits keep their exact value.
public enum JSONValue: Sendable, Equatable {
  /// null.
  case null
  /// true or false.
  case bool(Bool)
  /// A number without fraction and exponent, in 64 bits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// Text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// An object.
  case object(JSONObject)

  /// The number, if it is whole and fits.
  public var wholeNumber: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int64(exactly: value)
    default: nil
    }
  }

  /// The number, cut towards the past.
  var milliseconds: Int64? {
    switch self {
    case .integer(let value): value
    case .number(let value): Int64(exactly: value.rounded(.down))
    default: nil
    }
  }
}

/// The members of a JSON object in the order in which they came.
public struct JSONObject: Sendable, Equatable {
  /// One name and its value.
  public struct Member: Sendable, Equatable {
    /// The name.
    public let name: String
    /// The value.
    public let value: JSONValue
  }

  /// The members, as they came.
  public private(set) var members: [Member] = []

  mutating func append(_ name: String, _ value: JSONValue) {
    members.append(Member(name: name, value: value))
  }

  mutating func reserve(_ count: Int) { members.reserveCapacity(count) }

  /// The first member of that name.
  public subscript(name: String) -> JSONValue? {
    for member in members where member.name == name { return member.value }
    return nil
  }

  /// The first member of that name, unless it is null.
  func present(_ name: String) -> JSONValue? {
    guard let value = self[name] else { return nil }
    if case .null = value { return nil }
    return value
  }

  /// Objects are equal when they have the same members in any order.
  public static func == (a: JSONObject, b: JSONObject) -> Bool {
    a.members.count == b.members.count && a.members.allSatisfy { b[$0.name] == $0.value }
  }
}
