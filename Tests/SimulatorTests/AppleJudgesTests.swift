import Glibc
import Testing

@testable import app_store_simulator

@Suite("Apple's own library", .timeLimit(.minutes(2)))
struct AppleJudgesTests {
  @Test(arguments: ["Sandbox", "Production"])
  func `it accepts all that is signed and refuses all that is forged`(
    environment: String
  ) async throws {
    try await judge("judge.py", environment) { ["\($0)/root.der", environment] }
  }

  @Test(arguments: ["Sandbox", "Production"])
  func `its client drives every endpoint of the API and knows every refusal`(
    environment: String
  ) async throws {
    try await judge("api_judge.py", environment) {
      ["\($0)/root.der", "\($0)/key.p8", environment]
    }
  }

  private func judge(
    _ script: String, _ environment: String, _ arguments: (_ folder: String) -> [String]
  ) async throws {
    let receiver = try Receiver()
    let simulator = try await RunningSimulator(
      notificationURL: receiver.url,
      settings: ["SIMULATOR_ENVIRONMENT": environment, "SIMULATOR_APP_APPLE_ID": "77"])
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let python = "/\(root)/.venv/bin/python3"
    try #require(
      unsafe access(python, X_OK) == 0, "no \(python); run deploy/scripts/setup")
    let log = "\(simulator.folder)/\(script).log"
    let judge = try ChildProcess(
      [
        python, "/\(root)/Tests/Fixtures/simulator/\(script)",
        "http://127.0.0.1:\(simulator.port)",
      ] + arguments(simulator.folder), log: log)
    let code = await judge.exitCode()
    #expect(code == 0, "\(RunningSimulator.text(log))")
    await receiver.stop()
  }
}
