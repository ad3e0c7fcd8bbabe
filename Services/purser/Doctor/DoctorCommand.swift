import FoundationEssentials
import ServiceRuntime

/// `purser doctor`.
enum DoctorCommand {
  static let command = Command(
    name: "doctor",
    synopsis: "[--config FILE] [--offline] [--no-test-notification] [--deep] [--json]",
    summary: "Checks an installation and says what is wrong and how to mend it",
    about: """
      Looks at purser.json, root certificates, API keys, the clock, Apple's API for every app and
      environment, the notification URL (by a test notification), the topics, the stores of this
      machine, and whether topics, stores and settings mean the same shards. Changes nothing but that it
      asks Apple for one test notification each.

      Reads the settings of the services from the environment, so run it with theirs: PURSER_CONFIG,
      KAFKA_…, PURSER_PARTITIONS, PURSER_SHARD_COUNT, ORDER_STORE, VERIFY_STORE, ENTITLEMENT_STORE,
      VERIFY_API_PRODUCTION_URL and VERIFY_API_SANDBOX_URL. What is not set is not looked at.

      Exit code 1 if there is a fault; warnings alone give 0.
      """,
    options: [
      .init(
        name: "--config", value: "FILE", help: "the file of apps (default: PURSER_CONFIG)"),
      .init(name: "--offline", help: "does not ask Apple"),
      .init(name: "--no-test-notification", help: "asks for no test notification"),
      .init(
        name: "--deep", help: "reads every page of the stores (takes minutes for large ones)"),
      .init(name: "--json", help: "writes one JSON object instead of words"),
    ],
    examples: ["purser doctor", "purser doctor --offline --json"]
  ) { arguments, settings in
    let options = Doctor.Options(
      config: arguments.text("--config") ?? settings.doctor.config,
      asksApple: !arguments.has("--offline"),
      testsNotifications: !arguments.has("--no-test-notification"),
      isDeep: arguments.has("--deep"))
    let findings = Doctor(options: options, settings: settings).examine()
    let faults = findings.count { $0.level == .fault }
    if arguments.has("--json") {
      try writeJSON(findings)
    } else {
      write(findings, faults: faults, Terminal(settings))
    }
    return faults == 0 ? Tool.success : Tool.failure
  }

  private struct Report: Encodable {
    let isHealthy: Bool
    let findings: [Finding]
  }

  private static func writeJSON(_ findings: [Finding]) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    let report = Report(
      isHealthy: !findings.contains { $0.level == .fault }, findings: findings)
    Terminal.standard.line(String(decoding: try encoder.encode(report), as: UTF8.self))
  }

  private static func write(_ findings: [Finding], faults: Int, _ terminal: Terminal) {
    for finding in findings {
      for line in finding.lines(terminal) { terminal.line(line) }
    }
    let warnings = findings.count { $0.level == .warning }
    let good = findings.count - faults - warnings
    terminal.line("\(faults) faults, \(warnings) warnings, \(good) checks good")
  }
}
