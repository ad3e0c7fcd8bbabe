import Glibc
import HTTPClient
import ServiceRuntime

/// Plays Apple's App Store for development and tests.
@main
struct SimulatorMain {
  static func main() async {
    let program = Program(
      name: "app-store-simulator",
      about: "plays Apple's App Store: sells, renews, refunds, signs and notifies like Apple, "
        + "with a root certificate of its own and a clock that can be moved")
    let code = await program.run(
      arguments: Array(CommandLine.arguments.dropFirst()), environment: Settings.environment,
      questions: [.health(prefix: "SIMULATOR", port: 8090)],
      settings: Settings.init, services: Assembly.services)
    exit(code)
  }
}
