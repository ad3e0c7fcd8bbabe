import Cryptography
import Kafka

/// An order's id: a random version 4 UUID whose first two bytes carry the partition of its customer.
enum OrderID {
  static func make(customer: String, partitions: Int) -> String {
    let partition = Partitioner.partition(forKey: Array(customer.utf8), partitions: partitions)
    // 65536 / partitions values of the first two bytes stand for each partition: pick one of them.
    let random = randomBytes(2).reduce(0) { $0 << 8 | Int($1) }
    let values = 65536 / partitions
    let first = (random % values) * partitions + Int(partition)
    let hex = String(first, radix: 16)
    let uuid = UUIDs.version4()
    return String(repeating: "0", count: 4 - hex.count) + hex + uuid.dropFirst(4)
  }

  /// The partition that an id carries; nil when it is no UUID.
  static func partition(of id: String, partitions: Int) -> Int? {
    guard UUIDs.normalized(id) != nil, let first = Int(id.prefix(4), radix: 16) else { return nil }
    return first % partitions
  }
}
