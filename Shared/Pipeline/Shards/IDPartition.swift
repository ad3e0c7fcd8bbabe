import Cryptography

/// Ids that carry the partition of their customer in their first two bytes, so that whoever has the id
/// alone finds the shard.
public enum IDPartition {
  /// A random version 4 UUID that carries a partition.
  public static func uuid(of partition: Int32, partitions: Int) -> String {
    let random = randomBytes(2).reduce(0) { $0 << 8 | Int($1) }
    return stamped(UUIDs.version4(), random, partition, partitions)
  }

  /// The same UUID with the partition put into its first two bytes.
  public static func stamp(_ uuid: String, _ partition: Int32, partitions: Int) -> String {
    stamped(uuid, Int(uuid.prefix(4), radix: 16) ?? 0, partition, partitions)
  }

  private static func stamped(_ uuid: String, _ chance: Int, _ partition: Int32, _ partitions: Int)
    -> String
  {
    // 65536 / partitions values of the first two bytes stand for each partition: pick one of them.
    let values = 65536 / partitions
    let first = (chance % values) * partitions + Int(partition)
    let hex = String(first, radix: 16)
    return String(repeating: "0", count: 4 - hex.count) + hex + uuid.dropFirst(4)
  }

  /// The partition that an id carries; nil when it is no UUID.
  public static func partition(of id: String, partitions: Int) -> Int32? {
    guard UUIDs.normalized(id) != nil, let first = Int(id.prefix(4), radix: 16) else { return nil }
    return Int32(first % partitions)
  }
}
