import TestSupport
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
    let judged = try await Script.run(
      Script.python,
      [
        "\(TestData.packageRoot)/Tests/Fixtures/simulator/\(script)",
        "http://127.0.0.1:\(simulator.port)",
      ] + arguments(simulator.folder))
    #expect(judged.code == 0, "\(judged.output)")
    await receiver.stop()
  }
}
