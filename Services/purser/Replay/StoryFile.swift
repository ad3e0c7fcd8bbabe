import Events
import FoundationEssentials
import Glibc
import Kafka
import SQLite
import ServiceRuntime

/// The records of a story while they are gathered: a SQLite file, so that memory does not grow with the
/// story, and whoever was stopped goes on.
final class StoryFile {
  private let store: Connection
  /// Nil for one that nobody can find.
  private let path: String?
  private var waiting: [(rank: Int, record: ReceivedRecord)] = []
  private var lineages: [String] = []
  private var next = Deadline.after(.seconds(1))

  private static let tables = [
    """
    CREATE TABLE records (
      topic TEXT NOT NULL, partition INTEGER NOT NULL, record_offset INTEGER NOT NULL,
      rank INTEGER NOT NULL, time INTEGER NOT NULL, key BLOB, value BLOB, headers BLOB NOT NULL,
      PRIMARY KEY (topic, partition, record_offset)) WITHOUT ROWID
    """,
    "CREATE INDEX records_by_time ON records (time, rank, topic, partition, record_offset)",
    """
    CREATE TABLE places (
      topic TEXT NOT NULL, partition INTEGER NOT NULL, next_offset INTEGER NOT NULL,
      PRIMARY KEY (topic, partition)) WITHOUT ROWID
    """,
    "CREATE TABLE lineages (lineage TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE question (text TEXT NOT NULL)",
  ]

  /// Opens a file.
  ///
  /// - Parameters:
  ///   - path: One that was begun before, or is to be kept until the end; nil for one that goes away.
  ///   - question: What is gathered: a file of another question is refused.
  /// - Throws: `NotOurs` for a file that is something else: nothing is changed in it, and it is not removed.
  init(resuming path: String?, question: String) throws {
    self.path = path
    let isBegun = try path.map(Self.isBegun) ?? false
    if let path, !isBegun { close(try ReplayOutput.open(path)) }
    store = try Connection(path: path ?? "", mode: .readWrite)
    if isBegun {
      let known = try store.first("SELECT text FROM question") { $0.text(0) }
      guard known == question else { throw OtherQuestion(folder: path ?? "") }
    } else {
      try store.run("BEGIN")
      for table in Self.tables { try store.run(table) }
      try store.run("INSERT INTO question (text) VALUES (?)", question)
      try store.run("COMMIT")
    }
  }

  /// Whether a file is a story that was begun; false where there is none.
  private static func isBegun(_ path: String) throws -> Bool {
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      attributes[.size] as? Int64 ?? 1 > 0
    else { return false }
    do {
      let found = try Connection(path: path, mode: .readOnly)
        .query("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") { $0.text(0) }
      // One that was stopped at its very beginning holds nothing yet.
      guard !found.isEmpty else { return false }
      guard Set(found) == Set(tables) else { throw NotOurs(path: path) }
      return true
    } catch is SQLiteError {
      throw NotOurs(path: path)
    }
  }

  /// Removes the file: the story is told.
  func remove() {
    guard let path else { return }
    for name in ["", "-wal", "-shm"] { unsafe unlink(path + name) }
  }

  /// From where a topic is to be read on.
  func places(_ topic: String) throws -> [TopicPartition: Int64] {
    let known = try store.query(
      "SELECT partition, next_offset FROM places WHERE topic = ?", topic
    ) { (TopicPartition(topic, Int32(truncatingIfNeeded: $0.int(0))), $0.int(1)) }
    return Dictionary(uniqueKeysWithValues: known)
  }

  /// Takes a record of the story; `rank` orders what has the same time.
  func take(_ record: ReceivedRecord, rank: Int, lineage: String?) {
    waiting.append((rank, record))
    if let lineage { lineages.append(lineage) }
  }

  /// Writes what was taken, now and then; `positions` are those behind it.
  func noteIfDue(_ positions: [TopicPartition: Int64]) throws {
    guard waiting.count >= 200 || next.hasPassed else { return }
    try note(positions)
  }

  /// Writes what was taken.
  func note(_ positions: [TopicPartition: Int64]) throws {
    next = .after(.seconds(1))
    try store.run("BEGIN")
    for (rank, record) in waiting { try insert(record, rank) }
    for lineage in lineages {
      try store.run("INSERT INTO lineages (lineage) VALUES (?) ON CONFLICT DO NOTHING", lineage)
    }
    for (partition, offset) in positions {
      try store.run(
        "INSERT OR REPLACE INTO places (topic, partition, next_offset) VALUES (?, ?, ?)",
        partition.topic, Int64(partition.partition), offset)
    }
    try store.run("COMMIT")
    waiting.removeAll(keepingCapacity: true)
    lineages.removeAll(keepingCapacity: true)
  }

  private func insert(_ record: ReceivedRecord, _ rank: Int) throws {
    let headers = try JSONEncoder().encode(record.headers.map { [$0.name, $0.text] })
    try store.run(
      """
      INSERT OR REPLACE INTO records
        (topic, partition, record_offset, rank, time, key, value, headers)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """, record.topic, Int64(record.partition), record.offset, Int64(rank), record.timestamp,
      record.key, record.value, [UInt8](headers))
  }

  /// The lineages that the story's customer was told of.
  func allLineages() throws -> [String] {
    try store.query("SELECT lineage FROM lineages ORDER BY lineage") { $0.text(0) }
  }

  /// Hands over the records in the order of time.
  func forEach(_ body: (ReceivedRecord) throws -> Void) throws {
    try store.forEach(
      """
      SELECT topic, partition, record_offset, time, key, value, headers FROM records
      ORDER BY time, rank, topic, partition, record_offset
      """
    ) { row in
      let headers = try JSONDecoder().decode([[String]].self, from: Data(row.blob(6)))
      try body(
        ReceivedRecord(
          topic: row.text(0), partition: Int32(truncatingIfNeeded: row.int(1)),
          offset: row.int(2), timestamp: row.int(3), key: row.optionalBlob(4),
          value: row.optionalBlob(5), headers: headers.map { Header(name: $0[0], text: $0[1]) }))
      return true
    }
  }
}
