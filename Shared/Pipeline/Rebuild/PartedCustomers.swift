import Events
public import Kafka

/// Customers who were merged, and whom a re-shard has parted from those they became: their events stand
/// in partitions of one shard, and what they had lies on another.
public struct PartedCustomers: Sendable {
  /// Whose store is rebuilt.
  public let shard: Shard
  /// Of other shards' partitions those who became customers of this one.
  private let aliases: Set<String>

  /// Blocks: reads all merges, where there are other shards.
  public init(_ rebuild: Rebuild) throws {
    shard = rebuild.shard
    var found: Set<String> = []
    if !shard.isAlone {
      try rebuild.read([.customers], to: .end, whole: true, again: true) { [shard] record in
        if let merge = try record.decode(CustomerMerged.self, type: .customerMerged),
          !shard.owns(key: merge.customer), shard.owns(key: merge.into)
        {
          found.insert(merge.customer)
        }
        return nil
      }
    }
    aliases = found
  }

  /// Whether the partitions of other shards must be read too.
  public var isAny: Bool { !aliases.isEmpty }

  /// Whether a record is about a customer of this shard, or about who became one.
  public func concerns(_ record: ReceivedRecord) -> Bool {
    shard.owns(record.partition)
      || record.key.map { aliases.contains(String(decoding: $0, as: UTF8.self)) } ?? false
  }
}
