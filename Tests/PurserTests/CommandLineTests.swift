import ServiceRuntime
import Testing

@testable import purser

@Suite("Command line of purser")
struct CommandLineTests {
  private let command = Command(
    name: "try", synopsis: "THING", summary: "", about: "",
    options: [
      .init(name: "--count", value: "N", help: "how many"), .init(name: "--loud", help: ""),
    ],
    operands: 1...1, examples: []
  ) { _, _ in 0 }

  private func parse(_ words: String...) throws -> Arguments {
    try Arguments(words[...], for: command)
  }

  private func problem(_ words: String...) -> String? {
    do {
      _ = try Arguments(words[...], for: command)
      return nil
    } catch {
      return error.problem
    }
  }

  @Test func `options stand before and behind operands, with a space or an equals sign`() throws {
    let first = try parse("--count", "3", "thing", "--loud")
    #expect(first.operands == ["thing"])
    #expect(try first.integer("--count", in: 1...9) == 3)
    #expect(first.has("--loud"))
    let second = try parse("thing", "--count=4")
    #expect(try second.integer("--count", in: 1...9) == 4)
    #expect(!second.has("--loud"))
  }

  @Test func `everything behind two dashes is an operand`() throws {
    #expect(try parse("--", "--loud").operands == ["--loud"])
  }

  @Test func `a wrong command line is told what is wrong`() throws {
    #expect(problem("thing", "--cuont", "3")?.contains("no option '--cuont'") == true)
    #expect(problem("thing", "--count")?.contains("needs a value") == true)
    #expect(problem("thing", "--loud=yes")?.contains("takes no value") == true)
    #expect(problem("thing", "--loud", "--loud")?.contains("given twice") == true)
    #expect(problem()?.contains("THING") == true)
    #expect(problem("a", "b")?.contains("'b' is one word too many") == true)
    let arguments = try parse("thing", "--count", "ten")
    #expect(throws: UsageError.self) { try arguments.integer("--count", in: 1...9) }
  }

  @Test(arguments: [["nothing"], ["--nothing"], ["topics"], ["topics", "paint"], ["up", "now"]])
  func `an unknown command or word ends with 64`(words: [String]) {
    #expect(Tool.run(words) == 64)
  }

  @Test func `help explains every command and ends with 0`() {
    for command in Tool.commands {
      #expect(Tool.run(command.words + ["--help"]) == 0)
      let text = HelpText.command(command)
      #expect(text.contains(command.about))
      for option in command.options { #expect(text.contains(option.name)) }
    }
    let program = HelpText.program(Tool.commands)
    for command in Tool.commands { #expect(program.contains(command.summary)) }
    #expect(program.contains("KAFKA_"))
    #expect(Tool.run(["topics", "--help"]) == 0)
    #expect(Tool.run([]) == 0)
  }

  @Test func `settings that cannot be used are told all at once, secrets never`() {
    do {
      _ = try Settings([
        "KAFKA_BOOTSTRAP_SERVERS": "localhost:1", "KAFKA_ACKS": "1",
        "PURSER_TOPIC_PREFIX": "my topics", "PURSER_LOG_LEVEL": "loud",
        "KAFKA_SASL_PASSWORD": "open sesame",
      ])
      Issue.record("settings with three faults were taken")
    } catch {
      let names = error.faults.map(\.name).sorted()
      #expect(names == ["KAFKA_ACKS", "PURSER_LOG_LEVEL", "PURSER_TOPIC_PREFIX"])
      #expect(!error.description.contains("sesame"))
    }
  }
}
