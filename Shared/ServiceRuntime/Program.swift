import Glibc

/// How every service starts: `--help`, settings or all of their faults, then services until a signal.
public struct Program: Sendable {
  /// The program's name, such as `order-service`.
  public let name: String
  /// What it is for, in a few lines of `--help`.
  public let about: String
  /// Extra lines of `--help` about arguments; empty when there are none.
  public let usage: String

  /// Something that the program does instead of serving, and then ends.
  public struct Command<Settings>: Sendable {
    /// The word that calls it, and the name of its thread.
    public let name: String
    /// What it does, for `--help`.
    public let help: String
    /// Options that take a value.
    public let options: Set<String>
    /// Does it, on a thread of its own; the values of the options stand in the second argument.
    public let run: @Sendable (Settings, [String: String], Log) throws -> Void

    /// Describes a command.
    public init(
      name: String, help: String, options: Set<String> = [],
      run: @escaping @Sendable (Settings, [String: String], Log) throws -> Void
    ) {
      self.name = name
      self.help = help
      self.options = options
      self.run = run
    }
  }

  /// Something that the program answers without reading all of its settings, and then ends.
  public struct Question: Sendable {
    /// The word that asks it, and the name of its thread.
    public let name: String
    /// What it answers, for `--help`.
    public let help: String
    /// Options that take a value.
    public let options: Set<String>
    /// Answers, on a thread of its own, with what is wrong in words, or nil if nothing is; takes what it
    /// needs from the reader, and the values of the options from the second argument.
    public let run: @Sendable (inout SettingsReader, [String: String]) -> String?

    /// Describes a question.
    public init(
      name: String, help: String, options: Set<String> = [],
      run: @escaping @Sendable (inout SettingsReader, [String: String]) -> String?
    ) {
      self.name = name
      self.help = help
      self.options = options
      self.run = run
    }
  }

  /// Describes a program.
  public init(name: String, about: String, usage: String = "") {
    self.name = name
    self.about = about
    self.usage = usage
  }

  /// Runs a service and returns the code to exit with: 0 after a clean stop, 1 after a failure, 64
  /// for arguments that are not known, 78 for settings that cannot be used.
  ///
  /// - Parameters:
  ///   - arguments: The process's arguments, without its name.
  ///   - environment: The process's environment.
  ///   - options: Arguments besides `--help` that take a value, such as `--role`.
  ///   - commands: What it can do besides serving, called by a first word.
  ///   - questions: What it answers without its settings, called by a first word.
  ///   - settings: Reads the service's settings; the second argument holds the options' values.
  ///   - services: Makes the services, in the order of starting.
  public func run<Settings: Sendable>(
    arguments: [String], environment: [String: String], options: Set<String> = [],
    commands: [Command<Settings>] = [], questions: [Question] = [],
    settings: (inout SettingsReader, [String: String]) -> Settings,
    services: (Settings, Log, Metrics) throws -> [any Service]
  ) async -> Int32 {
    var reader = SettingsReader(environment)
    let level: Log.Level = reader.choice(
      "PURSER_LOG_LEVEL", default: .info, "the least level that is logged")
    var values: [String: String] = [:]
    var rest = arguments[...]
    let command = commands.first { $0.name == rest.first }
    let question = questions.first { $0.name == rest.first }
    if command != nil || question != nil { rest.removeFirst() }
    let options = question?.options ?? options.union(command?.options ?? [])
    let usage = ([usage] + commands.map(\.help) + questions.map(\.help))
      .filter { !$0.isEmpty }.joined(separator: "\n")
    while let argument = rest.popFirst() {
      if argument == "--help" || argument == "-h" {
        _ = settings(&reader, values)
        print(
          "\(name): \(about)\n\(usage.isEmpty ? "" : "\n\(usage)\n")\nSettings, from the environment:\n\(reader.helpText)"
        )
        return 0
      }
      guard options.contains(argument), let value = rest.popFirst() else {
        complain("\(name): unknown argument '\(argument)'; see \(name) --help")
        return 64
      }
      values[argument] = value
    }
    if let question { return await ask(question, environment, values) }
    let read = settings(&reader, values)
    do {
      try reader.finish()
    } catch {
      complain("\(name): these settings cannot be used; see \(name) --help\n\(error)")
      return SettingsError.exitCode
    }
    let log = Log(program: name, minimumLevel: level)
    for unknown in reader.unknown {
      let nearest = unknown.nearest.map { "did you mean \($0)? " } ?? ""
      log.warning(
        "a setting is not known, and has no effect",
        [
          "name": .string(unknown.name),
          "advice": .string("\(nearest)\(name) --help lists all settings"),
        ])
    }
    if let command { return await run(command, read, values, log) }
    return await run(read, log, services)
  }

  private func run<Settings: Sendable>(
    _ command: Command<Settings>, _ settings: Settings, _ values: [String: String], _ log: Log
  ) async -> Int32 {
    do {
      try await DedicatedThread.run(named: command.name) { try command.run(settings, values, log) }
      return 0
    } catch {
      log.error(
        "the command failed", ["command": .string(command.name), "error": LogValue(error)])
      return 1
    }
  }

  private func ask(
    _ question: Question, _ environment: [String: String], _ values: [String: String]
  ) async -> Int32 {
    let answer = Completion<(problem: String?, faults: [SettingsReader.Fault])>()
    let thread = DedicatedThread(name: question.name) {
      var reader = SettingsReader(environment)
      let problem = question.run(&reader, values)
      answer.complete(with: (problem, reader.faults))
    }
    let (problem, faults) = await answer.value()
    await thread.joined()
    if !faults.isEmpty {
      complain("\(name): these settings cannot be used\n\(SettingsError(faults: faults))")
      return SettingsError.exitCode
    }
    if let problem { complain("\(name): \(problem)") }
    return problem == nil ? 0 : 1
  }

  private func run<Settings>(
    _ settings: Settings, _ log: Log,
    _ services: (Settings, Log, Metrics) throws -> [any Service]
  ) async -> Int32 {
    let signals = ShutdownSignals()
    let metrics = Metrics()
    ProcessMetrics.add(to: metrics, program: name)
    do {
      let services = try services(settings, log, metrics)
      log.info("started", ["process": LogValue(getpid())])
      let ending = await ServiceGroup(services, log: log).run(signals: signals)
      return ending == .clean ? 0 : 1
    } catch let error as SettingsError {
      complain("\(name): these settings cannot be used\n\(error)")
      return SettingsError.exitCode
    } catch {
      log.error("could not start", ["error": LogValue(error)])
      return 1
    }
  }

  private func complain(_ text: String) {
    var line = text + "\n"
    line.withUTF8 { bytes in _ = unsafe write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
  }
}
