import ServiceRuntime
import Testing

extension WholeWay {
  /// Whatever dies or stands still at whatever moment, nothing is lost and nothing doubled.
  @Suite("Faults under load", .serialized)
  struct FaultTests {
    @Test(.timeLimit(.minutes(6)))
    func `each fault once, and others by chance, lose and double nothing`() async throws {
      let seed = EnduranceSettings.current.seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
      let services = Way.services
      let outcome = try await FaultRun(
        seed: seed, length: .seconds(45), workers: 4,
        first: [
          .crash(services[0], point: "before-commit", time: 20),
          .crash(services[1], point: "after-commit", time: 20),
          .crash(services[2], point: "before-removal", time: 10),
          .freezeBroker(.seconds(3)),
          .kill(services, downFor: .milliseconds(300)),
          .crash(services[1], point: "after-produce", time: 15),
          .startTwice(services[2]),
        ]
      ).run()
      #expect(outcome.faults.count >= 7 && outcome.orders > 50, "\(outcome)")
      print("faults under load, seed \(seed): \(outcome.summary)")
    }

    @Test(
      .enabled(if: EnduranceSettings.current.minutes != nil, "make endurance MINUTES=…"),
      .timeLimit(.minutes(24 * 60)))
    func `runs of a minute follow each other for as long as is asked`() async throws {
      let end = Deadline.after(.seconds(60 * (EnduranceSettings.current.minutes ?? 0)))
      var seed = EnduranceSettings.current.seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
      while !end.hasPassed {
        let outcome = try await FaultRun(seed: seed, length: .seconds(60)).run()
        print("endurance, seed \(seed): \(outcome.summary)")
        seed += 1
      }
    }
  }
}

extension FaultRun.Outcome {
  /// One line for a person.
  var summary: String {
    "\(customers) customers, \(orders) orders, \(events) events, \(faults.count) faults, all is well"
  }
}
