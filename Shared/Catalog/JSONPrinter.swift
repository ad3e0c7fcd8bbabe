/// Writes JSON as Xcode writes `.storekit` files: two spaces a level, a space before the colon.
enum JSONPrinter {
  static func text(_ value: JSONValue) -> String {
    var text = ""
    append(value, 0, to: &text)
    return text + "\n"
  }

  private static func append(_ value: JSONValue, _ depth: Int, to text: inout String) {
    switch value {
    case .null: text += "null"
    case .bool(let flag): text += flag ? "true" : "false"
    case .number(let digits): text += digits
    case .string(let string): append(string, to: &text)
    case .array(let elements):
      list(elements.count, "[", "]", depth, to: &text) { index, text in
        append(elements[index].value, depth + 1, to: &text)
      }
    case .object(let members):
      list(members.count, "{", "}", depth, to: &text) { index, text in
        append(members[index].key, to: &text)
        text += " : "
        append(members[index].node.value, depth + 1, to: &text)
      }
    }
  }

  private static func list(
    _ count: Int, _ open: String, _ close: String, _ depth: Int, to text: inout String,
    _ element: (Int, inout String) -> Void
  ) {
    guard count > 0 else {
      text += open + close
      return
    }
    text += open
    for index in 0..<count {
      text += index == 0 ? "\n" : ",\n"
      text += String(repeating: "  ", count: depth + 1)
      element(index, &text)
    }
    text += "\n" + String(repeating: "  ", count: depth) + close
  }

  private static func append(_ string: String, to text: inout String) {
    text += "\""
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }
}

extension JSONValue {
  /// An object of the members that have a value, in this order.
  static func members(_ members: KeyValuePairs<String, JSONValue?>) -> JSONValue {
    .object(
      members.compactMap { key, value in
        value.map { JSONMember(key: key, line: 0, node: JSONNode(value: $0, line: 0)) }
      })
  }

  /// A list.
  static func list(_ values: some Sequence<JSONValue>) -> JSONValue {
    .array(values.map { JSONNode(value: $0, line: 0) })
  }

  /// A whole number.
  static func integer(_ number: some BinaryInteger) -> JSONValue { .number(String(number)) }
}
