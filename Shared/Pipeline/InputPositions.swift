import Kafka
import SQLite

/// The next offset to read of each partition, kept with the state that was read from it.
enum InputPositions {
  static func all(_ rows: borrowing some StoreRows & ~Copyable) throws -> [TopicPartition: Int64] {
    let found = try rows.query("SELECT topic, partition, next_offset FROM input_positions") {
      (TopicPartition($0.text(0), Int32(truncatingIfNeeded: $0.int(1))), $0.int(2))
    }
    return Dictionary(found, uniquingKeysWith: { max($0, $1) })
  }

  static func set(_ transaction: Transaction, _ positions: [TopicPartition: Int64]) throws {
    for (partition, offset) in positions {
      try transaction.run(
        """
        INSERT INTO input_positions (topic, partition, next_offset) VALUES (?, ?, ?)
        ON CONFLICT (topic, partition) DO UPDATE SET next_offset = excluded.next_offset
        """, partition.topic, Int64(partition.partition), offset)
    }
  }
}
