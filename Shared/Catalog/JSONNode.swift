/// A JSON value with the line it begins on.
struct JSONNode: Sendable, Equatable {
  let value: JSONValue
  let line: Int
}

/// A JSON value that keeps what Foundation's decoder drops: the order of keys and repeated keys.
enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  /// The number as written.
  case number(String)
  case string(String)
  case array([JSONNode])
  case object([JSONMember])

  /// The kind in words.
  ///
  /// Faults name it instead of the value, which may be a secret.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .number: "a number"
    case .string: "a text"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

/// A key of a JSON object with its value.
struct JSONMember: Sendable, Equatable {
  let key: String
  let line: Int
  let node: JSONNode
}
