/// One thing that the doctor looked at, in words.
struct Finding: Sendable, Encodable, Equatable {
  /// How it stands.
  enum Level: String, Sendable, Encodable {
    /// As it must be.
    case good
    /// It works, and someone should know.
    case warning
    /// It does not work, or is dangerous.
    case fault
  }

  /// What part of the installation, such as `roots` or `notifications`.
  let area: String
  /// Which one of them, such as an app and environment.
  let subject: String
  let level: Level
  /// What was found.
  let what: String
  /// What to do about it; nil for what is good.
  let remedy: String?

  static func good(_ area: String, _ subject: String, _ what: String) -> Finding {
    Finding(area: area, subject: subject, level: .good, what: what, remedy: nil)
  }

  static func warning(
    _ area: String, _ subject: String, _ what: String, _ remedy: String
  ) -> Finding {
    Finding(area: area, subject: subject, level: .warning, what: what, remedy: remedy)
  }

  static func fault(
    _ area: String, _ subject: String, _ what: String, _ remedy: String
  ) -> Finding {
    Finding(area: area, subject: subject, level: .fault, what: what, remedy: remedy)
  }

  /// The lines for a person.
  func lines(_ terminal: Terminal) -> [String] {
    let mark =
      switch level {
      case .good: terminal.styled("ok     ", .green)
      case .warning: terminal.styled("warning", .yellow)
      case .fault: terminal.styled("FAULT  ", .red)
      }
    let head = "\(mark)  \(padded(area, 13))  \(subject.isEmpty ? "" : "\(subject): ")\(what)"
    return [head] + (remedy.map { ["                          mend it: \($0)"] } ?? [])
  }
}
