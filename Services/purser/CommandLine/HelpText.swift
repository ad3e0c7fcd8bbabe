/// The words of `--help`.
enum HelpText {
  static func program(_ commands: [Command]) -> String {
    let width = commands.map(\.name.count).max() ?? 0
    let list = commands.map { "  \(padded($0.name, width))  \($0.summary)" }
    return """
      purser: the operator's tool of Purser, a backend for Apple in-app purchases

      Usage: purser COMMAND [options]

      Commands
      \(list.joined(separator: "\n"))

      'purser COMMAND --help' explains a command. New here? Begin with 'purser demo'.

      Settings from the environment
      \(Settings.helpText)
      Exit codes: 0 done, 1 failed or a check found differences, 64 wrong command line,
      78 wrong settings.
      """
  }

  static func command(_ command: Command) -> String {
    var text = "purser \(command.name): \(command.summary)\n\n"
    text += "Usage: purser \(command.name) \(command.synopsis)\n\n\(command.about)\n"
    if !command.options.isEmpty {
      let names = command.options.map {
        [$0.name, $0.value].compactMap(\.self).joined(separator: " ")
      }
      let width = names.map(\.count).max() ?? 0
      text += "\nOptions\n"
      for (name, option) in zip(names, command.options) {
        let lines = option.help.split(separator: "\n")
        text += "  \(padded(name, width))  \(lines[0])\n"
        for line in lines.dropFirst() { text += "  \(padded("", width))  \(line)\n" }
      }
    }
    if !command.examples.isEmpty {
      text += "\nExamples\n" + command.examples.map { "  \($0)\n" }.joined()
    }
    return text
  }
}

/// A text filled up with spaces.
func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}
