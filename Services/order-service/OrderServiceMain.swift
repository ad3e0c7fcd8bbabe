import Events
import Glibc
import HTTPClient
import Pipeline
import ServiceRuntime

/// Opens orders before the customer pays, takes proofs, and answers the app.
@main
struct OrderServiceMain {
  static func main() async {
    let program = Program(
      name: "order-service",
      about: "opens orders before the customer pays and completes them when the payment is proved")
    let code = await program.run(
      arguments: Array(CommandLine.arguments.dropFirst()), environment: Settings.environment,
      commands: Program.Command.rebuilds(
        "order-service", own: .orders, pipeline: \.pipeline, RebuildOrders.run) + [
          .reshard(ReshardOrders.run)
        ],
      questions: [.health(prefix: "ORDER", port: 8081)],
      settings: Settings.init, services: OrderService.services)
    exit(code)
  }
}
