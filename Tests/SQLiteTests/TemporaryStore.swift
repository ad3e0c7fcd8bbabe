import FoundationEssentials
import Glibc
import SQLite
import ServiceRuntime
import TestSupport

/// A store in a folder of its own, which goes away with this object.
final class TemporaryStore: Sendable {
  let folder: String
  var path: String { "\(folder)/store.sqlite" }

  init() {
    folder =
      TestFolder.path("sqlite")
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// One table for the tests.
  static let migrations = [
    Migration(
      version: 1,
      """
      CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body BLOB) STRICT;
      """)
  ]

  func writer(
    queueLimit: Int = 4096, groupLimit: Int = 256, log: Log = .silent, metrics: Metrics = Metrics(),
    beforeCommit: (@Sendable (borrowing Connection) throws -> Void)? = nil
  ) throws -> Writer {
    try Writer(
      path: path, migrations: Self.migrations, queueLimit: queueLimit, groupLimit: groupLimit,
      log: log, metrics: metrics, name: "test", beforeCommitForTests: beforeCommit)
  }

  /// The names in the store as another connection sees them now.
  func names() throws -> [String] {
    let connection = try Connection(path: path, mode: .readOnly)
    return try connection.query("SELECT name FROM item ORDER BY id") { $0.text(0) }
  }
}

/// Inserts a row.
func insert(_ name: String, _ transaction: Transaction) throws {
  try transaction.run("INSERT INTO item (name) VALUES (?)", name)
}

/// Keeps a writer's thread busy inside a job until `release` completes.
struct HeldWriter: Sendable {
  let release = Completion<Void>()
  let held: Task<Void, any Error>

  init(_ writer: Writer) async {
    let entered = Completion<Void>()
    let release = release
    held = Task {
      try await writer.write { _ in
        entered.complete(with: ())
        release.wait()
      }
    }
    await entered.value()
  }

  func letGo() async throws {
    release.complete(with: ())
    try await held.value
  }
}

/// Waits until the condition holds; false when it has not after ten seconds.
func eventually(_ condition: () -> Bool) async -> Bool {
  let deadline = Deadline.after(.seconds(10))
  while !condition() {
    if deadline.hasPassed { return false }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return true
}

extension Metrics {
  /// Waits until so many jobs are in the queue of the test's writer.
  func hasQueued(_ count: Int) async -> Bool {
    await eventually { text().contains("sqlite_queue_jobs{store=\"test\"} \(count)\n") }
  }

  func testCounter(_ name: String) -> Int { counter(name, "", labels: ["store": "test"]).value }
}

struct Refusal: Error, Equatable {}
