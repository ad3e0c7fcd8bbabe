import Pipeline
import Testing

@testable import purser

/// Whether stores, settings and topics mean the same shards.
@Suite("Doctor: shards") struct DoctorShardTests {
  private func findings(
    _ shards: [Shard], count: Int? = nil, partitions: Int? = nil
  ) -> [Finding] {
    let services = ["order-service", "verify-service", "entitlement-service"]
    return ShardCheck(
      known: zip(services, shards).map {
        ShardCheck.Known(store: StoreCheck.Store(service: $0, path: "/v/\($0)"), shard: $1)
      }, count: count, partitions: partitions
    ).findings()
  }

  private let oneOfThree = Shard(ordinal: 1, count: 3, partitions: 12)

  @Test func `stores of the shards that the settings name are good, and say which they are`() {
    let found = findings([oneOfThree, oneOfThree, oneOfThree], count: 3, partitions: 12)
    #expect(found.map(\.level) == [.good, .good, .good])
    #expect(found.allSatisfy { $0.what.contains("shard 1 of 3") && $0.what.contains("12") })
    #expect(findings([.only, .only, .only]).map(\.level) == [.good, .good, .good])
  }

  @Test func `stores of another number of shards than the settings say are a fault`() {
    let found = findings([.only], count: 3)
    #expect(found.map(\.level) == [.fault])
    #expect(found.first?.what.contains("PURSER_SHARD_COUNT is 3") == true)
    #expect(found.first?.remedy?.contains("purser reshard") == true)
  }

  @Test func `a number of shards that the settings do not say is a warning`() {
    let found = findings([oneOfThree])
    #expect(found.map(\.level) == [.warning])
  }

  @Test func `stores of two re-shards are a fault, whatever the settings say`() {
    let found = findings([oneOfThree, Shard(ordinal: 1, count: 2, partitions: 12)], count: 3)
    #expect(found.map(\.level) == [.fault])
    #expect(found.first?.what.contains("verify-service is shard 1 of 2") == true)
  }

  @Test func `stores made for another number of partitions are a fault`() {
    let found = findings([oneOfThree], count: 3, partitions: 24)
    #expect(found.map(\.level) == [.fault])
    #expect(found.first?.what.contains("PURSER_PARTITIONS is 24") == true)
  }
}
