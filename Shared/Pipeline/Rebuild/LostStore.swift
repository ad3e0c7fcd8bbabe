import Events
import FoundationEssentials
import Glibc
import Kafka
import ServiceRuntime

/// Finds out whether a service's store was lost: there is none, and the service has told something.
struct LostStore {
  let service: String
  /// The topic that nobody else writes to.
  let own: Topic
  let settings: PipelineSettings
  let log: Log

  private var path: String { settings.storePath }
  private var shard: Shard { settings.shards.shard }

  /// Whether the store must be made anew before the service can start; blocks.
  ///
  /// Without topics nothing was told. The service itself looks once more at its start.
  ///
  /// - Throws: `KafkaError` when the broker does not answer; `TopicsUnusable`.
  func isLost() throws -> Bool {
    if unsafe access(path, F_OK) == 0 {
      log.info("the store is there; nothing is to be made anew", ["store": .string(path)])
      return false
    }
    // A new volume has no folders.
    try FileManager.default.createDirectory(
      at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
    if unsafe access("\(path).rebuilding", F_OK) == 0 { return true }
    let metrics = Metrics()
    let admin = try Admin(settings.kafka, name: "\(service)-lost", log: log, metrics: metrics)
    defer { admin.closeAndWait() }
    let count: Int
    do {
      count =
        try TopicPlan(names: settings.topics, checked: .partitions).check(
          [own], admin, partitions: shard.partitions, timeout: Rebuild.patience
        ) { _ in }[own] ?? 0
    } catch is TopicsMissing {
      count = 0
    }
    let consumer = try Consumer(
      settings.kafka, groupID: shard.group(of: service, settings.topics), name: "\(service)-lost",
      log: log, metrics: metrics)
    defer { consumer.close() }
    let newest =
      count == 0
      ? 0
      : try StoreAge.newestPublished(
        settings.topics.name(of: own), partitions: count, by: shard, of: "/purser/\(service)",
        consumer, timeout: Rebuild.patience)
    guard newest > 0 else {
      log.info("there is no store, and nothing was told by one; the service begins with a new one")
      return false
    }
    log.warning(
      "the store is lost; it is made anew from the topics",
      ["store": .string(path), "told": LogValue(newest)])
    return true
  }

  /// The newest copy of this shard's store in a folder; nil when there is none.
  ///
  /// - Throws: When the folder cannot be read: whoever names it expects copies there.
  func newestBackup(in folder: String) throws -> String? {
    let store = URL(filePath: path).deletingPathExtension().lastPathComponent
    let newest = StoreCopies(of: store, shard).newest(
      of: try FileManager.default.contentsOfDirectory(atPath: folder))
    if newest == nil {
      log.warning("there is no copy of this shard's store", ["folder": .string(folder)])
    }
    return newest.map { "\(folder)/\($0)" }
  }
}

/// How copies of a store are named: by the store, its shard where it is one of several, and their time.
public struct StoreCopies: Sendable {
  private let prefix: String

  /// Names copies of a store.
  ///
  /// - Parameters:
  ///   - store: The name of its file, without what follows the last dot.
  ///   - shard: Whose it is; nil for a store that has noted none.
  public init(of store: String, _ shard: Shard?) {
    // The stores of all shards have one file name.
    let suffix = shard.flatMap { $0.isAlone ? nil : "-\($0.ordinal)-of-\($0.count)" } ?? ""
    prefix = "\(store)\(suffix)-"
  }

  /// The name of a copy, such as `orders-0-of-3-20270131T030000Z.sqlite`: sorts by time and needs no quoting.
  ///
  /// - Parameter time: When it is made, UTC milliseconds.
  public func name(at time: Int64) -> String {
    let stamp = String(rfc3339(time).prefix(19)).filter { $0 != "-" && $0 != ":" } + "Z"
    return "\(prefix)\(stamp).sqlite"
  }

  /// The newest of the names that are copies of the store.
  func newest(of names: [String]) -> String? {
    let length = name(at: 0).utf8.count
    return names.filter { name in
      name.utf8.count == length && name.hasPrefix(prefix) && name.hasSuffix("Z.sqlite")
        && name.dropFirst(prefix.count).first?.isNumber == true
    }.max()
  }
}
