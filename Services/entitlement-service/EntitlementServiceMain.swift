import Events
import Glibc
import HTTPClient
import Pipeline
import ServiceRuntime

/// Decides what customers own, and tells every other backend.
@main
struct EntitlementServiceMain {
  static func main() async {
    let program = Program(
      name: "entitlement-service",
      about: "decides what each customer owns and publishes every change of it")
    let code = await program.run(
      arguments: Array(CommandLine.arguments.dropFirst()), environment: Settings.environment,
      commands: Program.Command.rebuilds(
        "entitlement-service", own: .entitlements, derives: true, pipeline: \.pipeline,
        RebuildEntitlements.run)
        + [.reshard(ReshardEntitlements.run), WhatIf.command],
      questions: [.health(prefix: "ENTITLEMENT", port: 8083)],
      settings: Settings.init, services: EntitlementService.services)
    exit(code)
  }
}
