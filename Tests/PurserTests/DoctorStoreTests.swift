import FoundationEssentials
import SQLite
import TestSupport
import Testing

@testable import purser

/// What the doctor says of stores and topics that are not right.
@Suite("Doctor: stores and topics", .timeLimit(.minutes(1))) struct DoctorStoreTests {
  private let path: String

  init() throws {
    let folder = TestFolder.path("doctor")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    path = "\(folder)/entitlement.sqlite"
  }

  private func findings(deep: Bool = false) -> [Finding] {
    StoreCheck(
      store: StoreCheck.Store(service: "entitlement-service", path: path), isDeep: deep
    ).examine().findings
  }

  private func make(_ statements: [String]) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    for statement in statements { try connection.run(statement) }
  }

  private static let books = [
    "CREATE TABLE balances (customer TEXT, environment TEXT, unit TEXT, amount INTEGER)",
    """
    CREATE TABLE balance_entries
      (id TEXT, customer TEXT, environment TEXT, unit TEXT, amount INTEGER)
    """,
    "INSERT INTO balances VALUES ('alice', 'Sandbox', 'coins', 60)",
    "INSERT INTO balance_entries VALUES ('1', 'alice', 'Sandbox', 'coins', 100)",
    "INSERT INTO balance_entries VALUES ('2', 'alice', 'Sandbox', 'coins', -40)",
  ]

  @Test func `books in order are told as such`() throws {
    try make(Self.books)
    let found = findings(deep: true)
    #expect(found.allSatisfy { $0.level == .good }, "\(found)")
    #expect(found.contains { $0.what == "every balance is the sum of its entries" })
  }

  @Test(arguments: [
    "UPDATE balances SET amount = 61",
    "DELETE FROM balances",
    "INSERT INTO balances VALUES ('bob', 'Sandbox', 'coins', 5)",
    "UPDATE balance_entries SET unit = 'gems' WHERE id = '2'",
  ])
  func `a balance that is not the sum of its entries is a fault`(change: String) throws {
    try make(Self.books + [change])
    let fault = findings().first { $0.level == .fault }
    #expect(fault?.what.contains("not the sum of their entries") == true)
    #expect(fault?.remedy?.contains("keep a copy") == true)
  }

  @Test func `records that wait behind a failed one are told`() throws {
    try make([
      "CREATE TABLE waiting_records (id INTEGER)", "INSERT INTO waiting_records VALUES (1), (2)",
    ])
    let found = findings().first { $0.level == .warning }
    #expect(found?.what.contains("2 records wait") == true)
    #expect(found?.remedy?.contains("dead letters") == true)
  }

  @Test func `a store that is damaged, no store, or not there is told`() throws {
    #expect(findings().map(\.level) == [.warning])
    #expect(findings().first?.what == "is not there")
    try Data("this is no store of anybody, but a text of some length".utf8)
      .write(to: URL(filePath: path))
    #expect(findings().first?.level == .fault)
    try FileManager.default.removeItem(atPath: path)
    try make(
      Self.books
        + (3...4000).map {
          "INSERT INTO balance_entries VALUES ('\($0)', 'alice', 'Sandbox', 'coins', 0)"
        })
    #expect(findings(deep: true).allSatisfy { $0.level == .good })
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    for place in stride(from: 8192, to: bytes.count - 512, by: 4096) {
      bytes.replaceSubrange(place..<place + 512, with: Array(repeating: 0xFF, count: 512))
    }
    try Data(bytes).write(to: URL(filePath: path))
    let damaged = findings(deep: true)
    #expect(damaged.contains { $0.level == .fault }, "\(damaged)")
    #expect(damaged.allSatisfy { $0.level == .good || $0.remedy?.isEmpty == false })
  }

  @Test func `a broker that is not named, or does not answer, is told`() throws {
    let unnamed = TopicCheck(settings: try Settings([:]), partitions: nil).findings()
    #expect(unnamed.map(\.level) == [.warning])
    #expect(unnamed.first?.remedy?.contains("KAFKA_BOOTSTRAP_SERVERS") == true)
    let away = TopicCheck(
      settings: try Settings(["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9"]), partitions: nil
    )
    .findings()
    #expect(away.map(\.level) == [.fault])
    #expect(away.first?.remedy?.contains("broker runs") == true)
  }
}
