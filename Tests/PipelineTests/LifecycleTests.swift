import Testing

extension WholeWay {
  /// The lives of generated customers, with real processes that are killed.
  @Suite("Lifecycle", .serialized, .timeLimit(.minutes(LifeSettings.current.limit)))
  struct LifecycleTests {
    @Test
    func `customers live while services are killed, and each lost store comes back the same`()
      async throws
    {
      let settings = LifeSettings.current
      let run = LifecycleRun(
        seed: settings.seed ?? UInt64.random(in: 0...UInt64(UInt32.max)),
        customers: settings.customers)
      let outcome = try await run.run()
      #expect(outcome.customers >= settings.customers && outcome.kills > 0, "\(outcome)")
      for deed in [
        "spends", "refused spends", "refunds of what was spent", "late news", "gifts",
        "transfers by support", "merges", "erasures",
      ] {
        #expect(outcome.deeds[deed, default: 0] > 0, "\(deed): \(outcome.deeds)")
      }
      #expect(outcome.repeatedSpends > 0 && outcome.rows > 0)
      print(
        "lifecycle, seed \(run.seed): \(outcome.customers) names, \(outcome.orders) orders, "
          + "\(outcome.events) events, \(outcome.kills) kills, \(outcome.deeds)")
    }
  }
}
