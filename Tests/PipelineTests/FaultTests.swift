import ServiceRuntime
import Testing

extension WholeWay {
  /// Whatever dies or stands still at whatever moment, nothing is lost and nothing doubled.
  @Suite("Faults under load", .serialized, .timeLimit(.minutes(EnduranceSettings.current.limit)))
  struct FaultTests {
    /// One bounded run; with `make endurance` more of them, each with the next seed.
    @Test func `each fault once, and others by chance, lose and double nothing`() async throws {
      let settings = EnduranceSettings.current
      var seed = settings.seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
      try await run(
        FaultRun(seed: seed, length: .seconds(45), workers: 4, first: Self.each), leastDeaths: 3)
      let end = Deadline.after(.seconds(60 * (settings.minutes ?? 0)))
      while !end.hasPassed {
        seed += 1
        try await run(FaultRun(seed: seed, length: .seconds(60)), leastDeaths: 0)
      }
    }

    /// What only a broker that is told what to answer can do; a run of its own, as that broker keeps
    /// nothing and knows no admin requests.
    @Test func `a broker that goes, is slow or answers with errors loses and doubles nothing`()
      async throws
    {
      let seed = EnduranceSettings.current.seed ?? UInt64.random(in: 0...UInt64(UInt32.max))
      let first: [Fault] = [
        .brokerErrors, .brokerDown(.seconds(2)), .fatalProducer,
        .slowBroker(.milliseconds(300), .seconds(3)), .brokerErrors, .fatalProducer,
        .brokerDown(.milliseconds(200)),
      ]
      let run = FaultRun(
        seed: seed, length: .seconds(15), workers: 12, first: first, adds: false,
        rebuilds: false, broker: WayBroker.mock)
      let outcome = try await run.run()
      #expect(outcome.orders > 30 && outcome.producersGivenUp == 2, "\(outcome)")
      print("faults of the broker, seed \(seed): \(outcome.summary)")
    }

    private static let each: [Fault] = [
      .crash(Way.services[0], point: "before-commit", time: 20),
      .crash(Way.services[1], point: "after-commit", time: 20),
      .crash(Way.services[2], point: "before-removal", time: 10),
      .freezeBroker(.seconds(10)),
      .kill(Way.services, downFor: .milliseconds(300)),
      .crash(Way.services[1], point: "after-produce", time: 15),
      .fillDisk(Way.services[0], .seconds(1)),
      .fillDisk(Way.services[1], .seconds(1)),
      .fillDisk(Way.services[2], .seconds(1)),
      .readOnlyDisk(Way.services[1], .seconds(1)),
      .startTwice(Way.services[2]),
      .stepClock(by: -3_600_000, .seconds(1)),
    ]

    private func run(_ run: FaultRun, leastDeaths: Int) async throws {
      let outcome = try await run.run()
      #expect(outcome.faults.count >= run.first.count && outcome.orders > 30, "\(outcome)")
      #expect(outcome.deathsInSteps >= leastDeaths, "\(outcome.faults)")
      print("faults under load, seed \(run.seed): \(outcome.summary)")
    }
  }
}

extension FaultRun.Outcome {
  /// One line for a person.
  var summary: String {
    "\(customers) customers, \(orders) orders, \(events) events, \(faults.count) faults, "
      + "\(deathsInSteps) deaths inside a chosen step; quiet \(recovery) after mending; nothing lost, "
      + "nothing doubled"
  }
}
