public import SQLite

/// What a store remembers of the shard that it was made for: under another one it holds rows that are
/// not its own, and lacks others.
enum ShardOfStore {
  /// The shard that a store is; nil for one that has not been noted.
  static func read(_ rows: borrowing some StoreRows & ~Copyable) throws -> Shard? {
    try rows.first("SELECT ordinal, count, partitions FROM shard") { row in
      Shard(ordinal: Int(row.int(0)), count: Int(row.int(1)), partitions: Int(row.int(2)))
    }
  }

  /// Notes the shard in a store that has none, and refuses any other.
  ///
  /// - Throws: `ShardMismatch`.
  static func claim(_ transaction: Transaction, _ shard: Shard, path: String) throws {
    guard let known = try read(transaction) else {
      try transaction.run(
        "INSERT INTO shard (id, ordinal, count, partitions) VALUES (1, ?, ?, ?)",
        Int64(shard.ordinal), Int64(shard.count), Int64(shard.partitions))
      return
    }
    guard known == shard else { throw ShardMismatch(path: path, store: known, asked: shard) }
  }
}

extension Shard {
  /// The shard that a store was made for; nil for one that no service of this version has opened.
  ///
  /// - Throws: `SQLiteError`.
  public static func noted(in reader: Reader) throws -> Shard? {
    try reader.hasTable("shard") ? ShardOfStore.read(reader) : nil
  }
}

/// A store that was made for another shard; final.
public struct ShardMismatch: Error, Sendable, Equatable, CustomStringConvertible {
  /// The SQLite file.
  public let path: String
  /// Whose it is.
  public let store: Shard
  /// What the settings say.
  public let asked: Shard

  /// The fault and what to do.
  public var description: String {
    if store.partitions != asked.partitions {
      return "the store \(path) was made for topics of \(store.partitions) partitions, and "
        + "PURSER_PARTITIONS is \(asked.partitions); the number is fixed when the topics are made"
    }
    guard store.count == asked.count else {
      return "the store \(path) is \(store), and the settings say \(asked); to change the number "
        + "of shards stop the service and run 'purser reshard'"
    }
    return "the store \(path) is \(store), and the settings say \(asked); give each shard its own "
      + "volume"
  }
}
