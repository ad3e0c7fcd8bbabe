import ServiceRuntime
import Testing

@testable import Pipeline

@Suite("Which shard a process is") struct ShardSettingsTests {
  private func read(_ environment: [String: String], host: String = "machine") -> (
    ShardSettings, [SettingsReader.Fault]
  ) {
    var reader = SettingsReader(environment)
    let settings = ShardSettings(&reader, hostName: host)
    return (settings, reader.faults)
  }

  @Test func `without settings there is one shard, and it owns everything`() {
    let (settings, faults) = read([:])
    #expect(faults.isEmpty && settings.shard == .only && settings.peers.isEmpty)
    #expect((0..<12).allSatisfy { settings.shard.owns($0) })
    #expect(settings.shard.owns(key: "anybody") && settings.shard.suffix.isEmpty)
  }

  @Test func `every partition has one owner`() {
    for count in 1...12 {
      for partition in Int32(0)..<12 {
        let owners = (0..<count).filter {
          Shard(ordinal: $0, count: count, partitions: 12).owns(partition)
        }
        #expect(owners.count == 1)
      }
    }
  }

  @Test func `in a StatefulSet the host's name says which`() {
    let environment = [
      "PURSER_SHARD_COUNT": "3", "PURSER_PEERS": "http://order-service-{}.order-service:8081/",
    ]
    let (settings, faults) = read(environment, host: "order-service-2.order-service.default")
    #expect(faults.isEmpty, "\(faults)")
    #expect(settings.shard == Shard(ordinal: 2, count: 3, partitions: 12))
    #expect(
      settings.peers == (0..<3).map { "http://order-service-\($0).order-service:8081" })
    #expect(settings.shard.suffix == ".2-of-3")
    #expect(read(environment.merging(["PURSER_SHARD": "1"]) { $1 }).0.shard.ordinal == 1)
  }

  @Test(arguments: [
    (["PURSER_SHARD": "1"], "PURSER_SHARD"),
    (["PURSER_SHARD_COUNT": "3", "PURSER_PEERS": "http://a-{}"], "PURSER_SHARD"),
    (
      ["PURSER_SHARD_COUNT": "3", "PURSER_SHARD": "3", "PURSER_PEERS": "http://a-{}"],
      "PURSER_SHARD"
    ),
    (["PURSER_SHARD_COUNT": "3", "PURSER_SHARD": "0"], "PURSER_PEERS"),
    (
      ["PURSER_SHARD_COUNT": "2", "PURSER_SHARD": "0", "PURSER_PEERS": "http://a:1,http://a:1/"],
      "PURSER_PEERS"
    ),
    (
      ["PURSER_SHARD_COUNT": "3", "PURSER_SHARD": "0", "PURSER_PEERS": "http://a,http://b"],
      "PURSER_PEERS"
    ),
    (
      ["PURSER_SHARD_COUNT": "2", "PURSER_SHARD": "0", "PURSER_PEERS": "http://a,http://b/path"],
      "PURSER_PEERS"
    ),
    (
      ["PURSER_SHARD_COUNT": "13", "PURSER_SHARD": "0", "PURSER_PEERS": "http://a-{}"],
      "PURSER_SHARD_COUNT"
    ),
  ]) func `what cannot be is refused by name`(environment: [String: String], name: String) {
    let (_, faults) = read(environment)
    #expect(faults.map(\.name) == [name], "\(faults)")
  }

  @Test func `an edge takes the settings of all and is no shard`() {
    var reader = SettingsReader(["PURSER_SHARD_COUNT": "3"])
    let settings = ShardSettings(&reader, isSharded: false, hostName: "edge-7c9d")
    #expect(reader.faults.isEmpty && settings.shard.isAlone)
  }
}
