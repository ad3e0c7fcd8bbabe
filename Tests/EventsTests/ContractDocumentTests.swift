import FoundationEssentials
import TestSupport
import Testing

/// The documents for other teams, judged by others' tools, and the rule for what may change.
@Suite("The documents of the events", .timeLimit(.minutes(3))) struct ContractDocumentTests {
  private static let root = TestData.packageRoot
  private static let write = root + "/deploy/scripts/write-event-documents"

  /// A copy of all that the documents are made of.
  private struct Copy: ~Copyable {
    let folder: String

    init() throws {
      folder = TestFolder.path("events")
      for part in ["Shared/Events", "docs/events", "Tests/Fixtures/events"] {
        let parent = "\(folder)/\(part)".split(separator: "/").dropLast().joined(separator: "/")
        try FileManager.default.createDirectory(
          atPath: "/\(parent)", withIntermediateDirectories: true)
        try FileManager.default.copyItem(
          atPath: "\(ContractDocumentTests.root)/\(part)", toPath: "\(folder)/\(part)")
      }
    }

    func text(_ path: String) throws -> String {
      String(decoding: try Data(contentsOf: URL(filePath: "\(folder)/\(path)")), as: UTF8.self)
    }

    func change(_ path: String, _ old: String, _ new: String) throws {
      let before = try text(path)
      try #require(before.contains(old), "\(path) has no '\(old)'")
      try Data(before.replacing(old, with: new).utf8).write(to: URL(filePath: "\(folder)/\(path)"))
    }

    func write(_ options: [String] = []) async throws -> Script.Ending {
      try await Script.run(
        Script.python, [ContractDocumentTests.write, "--root", folder] + options)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }
  }

  @Test func `they say what the types of today say`() async throws {
    let ending = try await Script.run(Script.python, [Self.write, "--check"])
    #expect(ending.code == 0, "\(ending.output)")
  }

  @Test
  func `the schemas, every golden event and the AsyncAPI document pass the tools of others`()
    async throws
  {
    let ending = try await Script.run(Script.python, [Self.root + "/deploy/scripts/check-events"])
    #expect(ending.code == 0, "\(ending.output)")
  }

  /// Lines as the tests of the whole way write them, and what is wrong in each.
  @Test(
    arguments: [
      (#"{"id":"i","customer":"a","author":"k","reason":"r","decidedAt":1}"#, nil),
      (#"{"id":"i","customer":"a","author":"k","reason":"r","decidedAt":"1"}"#, "decidedAt"),
      (#"{"id":"i","customer":"a","author":"k","reason":"r"}"#, "decidedAt"),
      (#"{"id":"i","customer":"a","author":"k","reason":"r","decidedAt":1,"x":1}"#, "x"),
    ] as [(String, String?)])
  func `a published event that no schema describes is found`(_ value: String, fault: String?)
    async throws
  {
    let file = TestFolder.path("events")
    defer { try? FileManager.default.removeItem(atPath: file) }
    let line = #"{"type":"purser.customer.erased.v1","value":"# + value + "}\n"
    try Data(line.utf8).write(to: URL(filePath: file))
    let ending = try await Script.run(
      Script.python, [Self.root + "/deploy/scripts/check-events", file])
    #expect(ending.code == (fault == nil ? 0 : 1), "\(ending.output)")
    if let fault { #expect(ending.output.contains(fault), "\(ending.output)") }
  }

  /// Changes of the code that a reader could not survive, and the words about them.
  @Test(arguments: [
    ("Entitlement", "  public var expiresAt: Int64?", "  public var endsAt: Int64?", "is gone"),
    ("Entitlement", "public var willRenew: Bool?", "public var willRenew: String?", "boolean"),
    ("Entitlement", "public var isActive: Bool\n", "public var isActive: Bool?\n", "sometimes"),
    ("Entitlement", "public var status: String?", "public var status: String", "always"),
    (
      "BalanceEntry", "  /// The lineage behind it.",
      "  /// Who.\n  public var by: String\n  /// The lineage behind it.", "make it optional"
    ),
    ("ConsumptionReported", "milliunits of percent", "percent", "milliunits"),
    ("EventHeaders", "`ce_subject`: the entity", "`ce_entity`: the entity", "ce_subject is gone"),
    ("Order", "rawValue: \"pending\"", "rawValue: \"waiting\"", "pending is gone"),
    ("Order", "/// Its time ran out.", "/// The customer was too late.", "Its time ran out"),
    (
      "EventType", "`BalanceChanged` on `iap.entitlements`", "`BalanceChanged` on `iap.orders`",
      "is gone"
    ),
    ("Topic", "Every move of an order, whole. Key: customer.", "Every move. Key: order.", "key"),
  ])
  func `a change that a reader of published events could not survive fails`(
    _ file: String, _ old: String, _ new: String, words: String
  ) async throws {
    let copy = try Copy()
    let published = try copy.text("docs/events/published.txt")
    try copy.change("Shared/Events/\(file).swift", old, new)
    let ending = try await copy.write()
    #expect(ending.code == 1, "\(ending.output)")
    #expect(ending.output.contains(words), "\(ending.output)")
    #expect(ending.output.contains("a published event changed"))
    #expect(try copy.text("docs/events/published.txt") == published, "nothing was written")
  }

  @Test func `an optional field may be added, and then it must stay`() async throws {
    let copy = try Copy()
    let old = "  /// When it was refunded or revoked, UTC"
    let field = "  /// Where, for the test.\n  public var place: String?\n"
    let file = "Shared/Events/LineageTransaction.swift"
    try copy.change(file, old, field + old)
    #expect(try await copy.write(["--check"]).code == 1, "the documents are out of date")
    let written = try await copy.write()
    #expect(written.code == 0, "\(written.output)")
    #expect(try await copy.write(["--check"]).code == 0)
    #expect(
      try copy.text("docs/events/published.txt")
        .contains("purser.lineage.changed.v1 transactions[].place: text, sometimes"))
    try copy.change(file, field, "")
    #expect(try await copy.write().output.contains("place is gone"))
  }

  @Test func `the example on the page for subscribers is an event`() async throws {
    let page = String(
      decoding: try Data(contentsOf: URL(filePath: Self.root + "/docs/events/README.md")),
      as: UTF8.self)
    let start = try #require(page.firstRange(of: "```json\n")?.upperBound)
    let text = page[start...].prefix(while: { $0 != "`" }).filter { $0 != "\n" }
    let file = TestFolder.path("events")
    defer { try? FileManager.default.removeItem(atPath: file) }
    try Data(#"{"type":"purser.entitlement.activated.v1","value":\#(text)}"#.utf8)
      .write(to: URL(filePath: file))
    let ending = try await Script.run(
      Script.python, [Self.root + "/deploy/scripts/check-events", file])
    #expect(ending.code == 0, "\(ending.output)")
  }
}
