/// The words behind a command's name, sorted into options and operands.
struct Arguments: Sendable {
  /// The words that belong to no option, in order.
  private(set) var operands: [String] = []
  private var values: [String: String] = [:]
  private let command: String

  /// Sorts words; everything behind `--` is an operand.
  init(_ words: ArraySlice<String>, for command: Command) throws(UsageError) {
    self.command = command.name
    var rest = words
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      }
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      try take(option: word, from: &rest, of: command)
    }
    guard command.operands.contains(operands.count) else {
      let problem =
        operands.count < command.operands.lowerBound
        ? "'\(command.name)' needs more: purser \(command.name) \(command.synopsis)"
        : "'\(operands[command.operands.upperBound])' is one word too many for '\(command.name)'"
      throw error(problem)
    }
  }

  private mutating func take(
    option word: String, from rest: inout ArraySlice<String>, of command: Command
  ) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = command.options.first(where: { $0.name == name }) else {
      let names = command.options.map(\.name).joined(separator: ", ")
      throw error("'\(command.name)' has no option '\(name)'; it has \(names)")
    }
    guard values[name] == nil else { throw error("\(name) is given twice") }
    guard let placeholder = option.value else {
      guard parts.count == 1 else { throw error("\(name) takes no value") }
      values[name] = ""
      return
    }
    if parts.count == 2 {
      values[name] = String(parts[1])
    } else if let value = rest.popFirst() {
      values[name] = value
    } else {
      throw error("\(name) needs a value: \(name) \(placeholder)")
    }
  }

  /// Whether an option without value was given.
  func has(_ name: String) -> Bool { values[name] != nil }

  /// The value of an option, if it was given.
  func text(_ name: String) -> String? { values[name] }

  /// The value of an option as a whole number.
  func integer(_ name: String, in range: ClosedRange<Int>) throws(UsageError) -> Int? {
    guard let text = values[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      let limits =
        range.upperBound == .max
        ? "from \(range.lowerBound)" : "from \(range.lowerBound) to \(range.upperBound)"
      throw error("\(name) is '\(text)'; give a whole number \(limits)")
    }
    return number
  }

  /// A fault of this command line.
  func error(_ problem: String) -> UsageError { UsageError(problem: problem, command: command) }
}
