import Events
import Glibc
import HTTPClient
import Pipeline
import ServiceRuntime

/// Proves that payments are real, receives Apple's notifications, keeps the lineages.
@main
struct VerifyServiceMain {
  static func main() async {
    let program = Program(
      name: "verify-service",
      about: "proves purchases by Apple's signature and keeps every lineage's state",
      usage: "--role all|edge|ledger   which part of the service this process is; default all")
    let code = await program.run(
      arguments: Array(CommandLine.arguments.dropFirst()), environment: Settings.environment,
      options: ["--role"],
      commands: Program.Command.rebuilds(
        "verify-service", own: .transactions, derives: true, pipeline: \.pipeline, RebuildLedger.run
      )
        + [.reshard(ReshardLedger.run)],
      questions: [.health(prefix: "VERIFY", port: 8082)],
      settings: Settings.init, services: VerifyService.services)
    exit(code)
  }
}
