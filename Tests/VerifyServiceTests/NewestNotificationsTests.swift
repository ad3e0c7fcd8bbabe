import Events
import Pipeline
import ServiceRuntime
import Testing

@testable import verify_service

@Suite struct `The newest notification of an app` {
  private func fact(
    _ environment: String, at time: Int64, source: FactSource = .notification,
    app: String = "com.example.app"
  ) -> AppStoreFact {
    AppStoreFact(
      source: source, signed: "", hash: "\(time)", bundleId: app, environment: environment,
      lineage: nil, receivedAt: time)
  }

  private func series(_ metrics: Metrics) -> Set<String> {
    Set(
      metrics.text().split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
        String(line.dropFirst("notification_newest_timestamp_seconds".count))
      })
  }

  private func tell(
    _ ledger: TestLedger, _ newest: NewestNotifications, _ facts: AppStoreFact...
  ) async throws {
    for fact in facts { try await ledger.change { change in try newest.saw(fact, change) } }
  }

  @Test func `is told by app and environment, and nothing of those that never had one`()
    async throws
  {
    let ledger = try TestLedger()
    let metrics = Metrics()
    let newest = try NewestNotifications(ledger.store, metrics: metrics)
    #expect(series(metrics) == [])
    try await tell(
      ledger, newest, fact("Production", at: 1_700_000_007_500), fact("Sandbox", at: 1_000),
      fact("Production", at: 1_700_000_003_000), fact("Production", at: 900, app: "com.example.b"))
    #expect(
      series(metrics) == [
        "{app=\"com.example.app\",environment=\"Production\"} 1700000007.5",
        "{app=\"com.example.app\",environment=\"Sandbox\"} 1.0",
        "{app=\"com.example.b\",environment=\"Production\"} 0.9",
      ])
  }

  @Test func `does not count what had to be fetched, proofs, and notifications of no known app`()
    async throws
  {
    let ledger = try TestLedger()
    let metrics = Metrics()
    let newest = try NewestNotifications(ledger.store, metrics: metrics)
    try await tell(
      ledger, newest, fact("Production", at: 5_000, source: .backFill),
      fact("Production", at: 5_000, source: .proof), fact("", at: 5_000, app: ""))
    #expect(series(metrics) == [])
  }

  @Test func `is known after a restart to within ten seconds, for few writes`() async throws {
    let ledger = try TestLedger()
    let newest = try NewestNotifications(ledger.store, metrics: Metrics())
    let start: Int64 = 1_700_000_000_000
    for step: Int64 in 0..<100 {
      try await tell(ledger, newest, fact("Production", at: start + step * 1_000))
    }
    let metrics = Metrics()
    let again = try NewestNotifications(ledger.store, metrics: metrics)
    #expect(
      series(metrics) == ["{app=\"com.example.app\",environment=\"Production\"} 1700000090.0"])
    // Older ones that are read again after a restart change nothing.
    try await tell(ledger, again, fact("Production", at: start))
    #expect(series(metrics).first?.hasSuffix(" 1700000090.0") == true)
  }
}
