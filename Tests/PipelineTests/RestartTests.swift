import Glibc
import ServiceRuntime
import Testing

extension WholeWay {
  /// SIGTERM in mid-work: a service ends well and in time, and goes on where it was.
  @Suite("Restarts under load", .serialized)
  struct RestartTests {
    @Test(.timeLimit(.minutes(4)), arguments: Way.services)
    func `a service that is stopped in mid-work goes on where it was`(_ service: String)
      async throws
    {
      let outcome = try await FaultRun(
        seed: 7, length: .seconds(6), workers: 3,
        first: [.terminate(service), .terminate(service), .terminate(service)], adds: false
      ).run()
      #expect(outcome.faults.count == 3 && outcome.orders > 5, "\(outcome)")
    }
  }
}
