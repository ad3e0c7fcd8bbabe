import Glibc
import ServiceRuntime

/// Writes whole lines to standard output, in color where a person looks at it.
struct Terminal: Sendable {
  /// How a piece of text stands out.
  enum Style: String {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
  }

  /// Standard output without color.
  static let standard = Terminal(usesColor: false)

  let usesColor: Bool

  /// Standard output; color when it is a terminal and the person did not refuse it (`NO_COLOR`).
  init(_ settings: Settings) {
    self.init(usesColor: !settings.refusesColor && isatty(STDOUT_FILENO) == 1)
  }

  private init(usesColor: Bool) { self.usesColor = usesColor }

  /// Writes a line; lines of several threads do not mix.
  func line(_ text: String = "") { Log.standardOutput(text + "\n") }

  /// A text that stands out, if there is color.
  func styled(_ text: String, _ style: Style) -> String {
    usesColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Writes a line to standard error.
  static func complain(_ text: String) {
    var line = text + "\n"
    line.withUTF8 { bytes in _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
  }
}
