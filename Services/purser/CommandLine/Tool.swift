import Kafka
import ServiceRuntime

/// From the words on the command line to an exit code.
enum Tool {
  /// The commands, in the order in which help lists them.
  static let commands: [Command] =
    [
      DemoCommand.command, UpCommand.command, TopicsCommand.create, TopicsCommand.check,
      InspectCommand.command, KeysCommand.create, KeysCommand.list, KeysCommand.revoke,
      CatalogCommand.check, CatalogCommand.importing, CatalogCommand.export,
      DoctorCommand.command, BackupCommand.command, ReshardCommand.command, ImportCommand.command,
      ReplayCommand.why, WhatIfCommand.command, IsItTrue.command, ReplayCommand.again,
    ] + DeadLettersCommand.all

  /// Done.
  static let success: Int32 = 0
  /// What was asked for failed, or a check found differences.
  static let failure: Int32 = 1

  static func run(_ words: [String]) -> Int32 {
    do {
      if let text = try helpAskedFor(words) {
        Terminal.standard.line(text)
        return success
      }
      let (command, rest) = try find(words)
      let arguments = try Arguments(rest, for: command)
      do {
        return try command.run(arguments, try Settings.read())
      } catch {
        Leftovers.waitIfEnding()
        throw error
      }
    } catch let error as UsageError {
      Terminal.complain("purser: \(error.problem)")
      Terminal.complain(
        error.command.map { "Try 'purser \($0) --help'." } ?? "Try 'purser --help'.")
      return UsageError.exitCode
    } catch let error as SettingsError {
      for fault in error.faults { Terminal.complain("purser: \(fault.name) \(fault.problem)") }
      return SettingsError.exitCode
    } catch let error as KafkaConfigurationError {
      for fault in error.faults { Terminal.complain("purser: \(fault.variable) \(fault.problem)") }
      return SettingsError.exitCode
    } catch let error as KafkaError where error.isAboutReaching {
      Terminal.complain("purser: \(error)")
      Terminal.complain(
        "Is the broker of KAFKA_BOOTSTRAP_SERVERS running, and is this its address?")
      return failure
    } catch {
      Terminal.complain("purser: \(error)")
      return failure
    }
  }

  private static func helpAskedFor(_ words: [String]) throws(UsageError) -> String? {
    guard let first = words.first else { return HelpText.program(commands) }
    if ["--help", "-h"].contains(first) { return HelpText.program(commands) }
    var words = words
    if first == "help" {
      words.removeFirst()
      if words.isEmpty { return HelpText.program(commands) }
    } else if !words.contains("--help") && !words.contains("-h") {
      return nil
    }
    let asked = words.prefix { !$0.hasPrefix("-") }
    let group = commands.filter { $0.name.split(separator: " ")[0] == asked.first ?? "" }
    let exact = group.filter { asked.starts(with: $0.words) }
    guard !group.isEmpty else { throw unknown(asked.first ?? "") }
    return (exact.isEmpty ? group : exact).map(HelpText.command).joined(separator: "\n")
  }

  private static func find(
    _ words: [String]
  ) throws(UsageError) -> (command: Command, rest: ArraySlice<String>) {
    for command in commands where words.starts(with: command.words) {
      return (command, words.dropFirst(command.words.count))
    }
    let first = words.first ?? ""
    let group = commands.filter { $0.words.first == first && $0.words.count > 1 }
    guard !group.isEmpty else { throw unknown(first) }
    let choices = group.map { $0.words.dropFirst().joined(separator: " ") }
    throw UsageError(
      problem: "'\(first)' needs one of \(choices.joined(separator: ", "))", command: first)
  }

  private static func unknown(_ word: String) -> UsageError {
    let names = commands.map(\.name).joined(separator: ", ")
    let what = word.hasPrefix("-") ? "option" : "command"
    return UsageError(problem: "there is no \(what) '\(word)'; the commands are \(names)")
  }
}

extension KafkaError {
  /// Whether no broker could be reached.
  fileprivate var isAboutReaching: Bool {
    [KafkaErrorCode.transport, .timedOut, .allBrokersDown].contains(code)
  }
}
