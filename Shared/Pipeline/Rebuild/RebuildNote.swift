import Events
import Glibc
import Kafka
import SQLite

/// How far the making of a store is, kept in that store with what was made: whoever is killed goes on.
struct RebuildNote: Codable, Sendable {
  /// What is made, and by which build: another one begins anew.
  let plan: String
  /// Where the logs began and ended; as `topic/partition`, like all places here.
  let beginnings: [String: Int64]
  let ends: [String: Int64]
  var positions: [String: Int64]
  var newestSequence: Int64 = 0
  /// Steps that are whole.
  var step = 0
  /// Of the step under way: the next offset of each partition that it reads.
  var next: [String: Int64]?
  /// Of the step under way: the cursor of its next part, JSON.
  var cursor: [UInt8]?

  /// What was noted in a store that is being made; nil when there is nothing of this plan.
  static func read(_ path: String, plan: String) -> RebuildNote? {
    guard let store = try? Connection(path: path, mode: .readOnly),
      let body = try? store.first("SELECT body FROM rebuild_note", map: { $0.blob(0) }),
      let note = try? EventJSON.decode(RebuildNote.self, from: body), note.plan == plan
    else { return nil }
    return note
  }

  /// Writes it; part of the job whose work it tells of.
  func save(_ transaction: Transaction) throws {
    try transaction.run(
      "INSERT OR REPLACE INTO rebuild_note (id, body) VALUES (1, ?)", try EventJSON.encode(self))
  }

  /// Makes the table in a store that is begun.
  static func make(_ transaction: Transaction) throws {
    try transaction.run(
      "CREATE TABLE rebuild_note (id INTEGER PRIMARY KEY, body BLOB NOT NULL)")
  }

  static func drop(_ transaction: Transaction) throws {
    try transaction.run("DROP TABLE rebuild_note")
  }

  /// Names the executable that runs: its size and when it was written.
  static var build: String {
    var status = stat()
    guard unsafe stat("/proc/self/exe", &status) == 0 else { return "unknown" }
    return "\(status.st_size) \(status.st_mtim.tv_sec) \(status.st_mtim.tv_nsec)"
  }
}

extension [TopicPartition: Int64] {
  /// The same as it is noted.
  var noted: [String: Int64] {
    var noted: [String: Int64] = [:]
    for (place, offset) in self { noted["\(place.topic)/\(place.partition)"] = offset }
    return noted
  }

  /// Reads what was noted.
  init(noted: [String: Int64]) {
    self = [:]
    for (place, offset) in noted {
      guard let slash = place.lastIndex(of: "/"), let number = Int32(place[slash...].dropFirst())
      else { continue }
      self[TopicPartition(String(place[..<slash]), number)] = offset
    }
  }
}
