/// Writes strings as JSON (RFC 8259 §7) without a coder, for logs and metrics.
enum JSONText {
  private static let hex = Array("0123456789abcdef")

  static func append(_ text: String, to line: inout String) {
    line += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": line += "\\\""
      case "\\": line += "\\\\"
      case "\n": line += "\\n"
      case "\r": line += "\\r"
      case "\t": line += "\\t"
      case _ where scalar.value < 0x20:
        line += "\\u00"
        line.append(hex[Int(scalar.value >> 4)])
        line.append(hex[Int(scalar.value & 15)])
      default: line.unicodeScalars.append(scalar)
      }
    }
    line += "\""
  }
}
