/// One command of the tool: what help says of it, and what it does.
struct Command: Sendable {
  /// The words that call it, such as `topics create`.
  let name: String
  /// What stands behind the name, in the way of manuals.
  let synopsis: String
  /// One line for the list of commands.
  let summary: String
  /// What it does and what one must know, as paragraphs.
  let about: String
  /// Its options.
  let options: [Option]
  /// How many words beside options it takes.
  var operands: ClosedRange<Int> = 0...0
  /// Command lines to learn from.
  let examples: [String]
  /// Does it; returns the exit code.
  let run: @Sendable (Arguments, Settings) throws -> Int32

  var words: [String] { name.split(separator: " ").map(String.init) }

  /// One option of a command.
  struct Option: Sendable {
    /// The name with its dashes.
    let name: String
    /// What the value is called in help; nil for an option without value.
    var value: String?
    /// What it does.
    let help: String
  }
}

/// Something that the person at the keyboard must write differently.
struct UsageError: Error {
  /// `EX_USAGE` of sysexits.h.
  static let exitCode: Int32 = 64
  /// What is wrong, and what would be right.
  let problem: String
  /// The command whose help explains it.
  var command: String?
}
