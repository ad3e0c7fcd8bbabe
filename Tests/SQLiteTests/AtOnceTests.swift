import SQLite
import ServiceRuntime
import Testing

@Suite struct `Reads at once` {
  private let store = TemporaryStore()
  private static let count = "SELECT count(*) FROM item"

  @Test func `a read on the thread that asks sees every write that was answered`() throws {
    let writer = try store.writer()
    let readers = try Readers(path: store.path)
    for number in 1...50 {
      try writer.writeAndWait { try insert("\(number)", $0) }
      let count = try eventually {
        try readers.readAtOnce { try $0.first(Self.count) { $0.int(0) } ?? 0 }
      }
      #expect(count == Int64(number))
    }
  }

  @Test func `a read of one statement sees what was answered, and leaves no snapshot behind`()
    throws
  {
    let writer = try store.writer()
    let readers = try Readers(path: store.path)
    for number in 1...20 {
      try writer.writeAndWait { try insert("\(number)", $0) }
      let count = try eventually {
        try readers.readAtOnce(isOneStatement: true) { try $0.first(Self.count) { $0.int(0) } ?? 0 }
      }
      #expect(count == Int64(number))
    }
  }

  @Test func `it is one snapshot, cannot write, and its own error reaches the caller`() throws {
    let writer = try store.writer()
    let readers = try Readers(path: store.path)
    try writer.writeAndWait { try insert("before", $0) }
    let counts = try eventually {
      try readers.readAtOnce { reader in
        let before = try reader.first(Self.count) { $0.int(0) }
        try writer.writeAndWait { try insert("meanwhile", $0) }
        return [before, try reader.first(Self.count) { $0.int(0) }]
      }
    }
    #expect(counts == [1, 1])
    // A failure of the store is left to the readers' threads.
    let written = try readers.readAtOnce { try $0.query("DROP TABLE item") { $0.int(0) } }
    #expect(written == nil)
    #expect(throws: Refusal()) {
      try eventually { try readers.readAtOnce { _ -> Int in throw Refusal() } }
    }
  }

  @Test func `after a read that took long others go another way for a while`() throws {
    let writer = try store.writer()
    let metrics = Metrics()
    let readers = try Readers(path: store.path, metrics: metrics, name: "test")
    try writer.writeAndWait { try insert("one", $0) }
    let slow = try readers.readAtOnce { _ in
      Wake().wait(atMost: .milliseconds(20))
      return 1
    }
    #expect(slow == 1)
    #expect(try readers.readAtOnce { _ in 2 } == nil)
    #expect(metrics.text().contains("sqlite_read_at_once_shut_total{store=\"test\"} 1"))
    #expect(try eventually { try readers.readAtOnce { _ in 3 } } == 3)
  }

  @Test func `one at a time reads so, and nobody once it is closed`() async throws {
    let writer = try store.writer()
    let readers = try Readers(path: store.path)
    try writer.writeAndWait { try insert("one", $0) }
    let other = try eventually {
      try readers.readAtOnce { _ in
        let other = Completion<Bool>()
        _ = DedicatedThread(name: "other") {
          let found = try? readers.readAtOnce { _ in 2 }
          other.complete(with: found == nil)
        }
        return other.wait()
      }
    }
    #expect(other)
    await readers.close(by: .after(.seconds(5)))
    #expect(try readers.readAtOnce { _ in 1 } == nil)
  }

  /// A busy machine may shut the way for a moment.
  private func eventually<Found>(_ look: () throws -> Found?) throws -> Found {
    let deadline = Deadline.after(.seconds(20))
    while true {
      if let found = try look() { return found }
      guard !deadline.hasPassed else { throw Refusal() }
      Wake().wait(atMost: .milliseconds(2))
    }
  }
}
