import Events
import FoundationEssentials
import Kafka
import Processes
import SQLite
import ServiceRuntime
import Testing

@testable import purser

extension WholeWay {
  /// `purser replay` beside services that run: it answers from topics and disturbs nobody.
  @Suite("Replay", .serialized, .timeLimit(.minutes(6)), WayTrait(keepsLaws: false))
  struct ReplayTests {
    private var way: Way { get throws { try WholeWay.way } }

    /// Runs the tool as a person does; gives its end and what it said.
    private func purser(_ words: [String], config: String? = nil) async throws -> (
      ending: ChildProcess.Ending, text: String
    ) {
      let way = try way
      var environment = ["PATH": "/usr/bin:/bin"]
      for service in Way.services {
        environment.merge(try way.program(service).environment) { $1 }
      }
      environment["ORDER_STORE"] = way.store(of: "order-service")
      environment["VERIFY_STORE"] = way.store(of: "verify-service")
      environment["ENTITLEMENT_STORE"] = way.store(of: "entitlement-service")
      let log = way.plan.file("purser-\(UUID().uuidString).log")
      let program = ChildProcess.Program(
        name: "purser", executable: "\(way.plan.places.executables)/purser", arguments: words,
        environment: environment, logFile: log)
      let child = try await offPool { try ChildProcess(program) }
      let ending = await child.ending.value()
      return (ending, String(decoding: try Data(contentsOf: URL(filePath: log)), as: UTF8.self))
    }

    private func buy(_ customer: String, _ product: String) async throws {
      let way = try way
      let order = try await way.order(customer, product)
      let bought = try await way.buy(product, token: order.id)
      let signed = try #require(bought.signedTransaction)
      #expect(try await way.prove(order.id, signed).finish)
      _ = try await way.quiet()
    }

    @Test func `a story leads from the order to what is owned, also at a time before`() async throws
    {
      let way = try way
      let early = try await way.now()
      try await buy("teller", "themes.all")
      let file = way.plan.file("teller.sqlite")
      let (ending, text) = try await purser([
        "replay", "why", "teller", "--at", "0s", "--to", file,
      ])
      #expect(ending == .exit(0), "\(text)")
      #expect(text.contains("owned at") && text.contains("Sandbox/themes"))
      let types = try await offPool {
        try Connection(path: file, mode: .readOnly).query(
          "SELECT DISTINCT topic FROM records ORDER BY topic"
        ) { $0.text(0) }
      }
      let names = way.plan.topics
      #expect(
        Set(types)
          == Set(
            [Topic.customers, .orders, .proofs, .appstore, .transactions, .entitlements].map {
              names.name(of: $0)
            }))
      let before = try await purser(["replay", "why", "teller", "--at", rfc3339(early - 1)])
      #expect(before.ending == .exit(0) && before.text.contains("version 0: nothing"))
    }

    @Test func `the stores are what the topics say, and a changed row is found`() async throws {
      let way = try way
      try await buy("true", "coins.100")
      let ends = try await way.journal.ends()
      let (ending, text) = try await purser(["replay", "true"])
      #expect(ending == .exit(0), "\(text)")
      for service in Way.services { #expect(text.contains("\(service): equal"), "\(text)") }
      #expect(try await way.journal.ends() == ends, "nothing was published")

      let live = way.plan.file("changed.sqlite")
      let rebuilt = way.plan.file("as-it-was.sqlite")
      let path = way.store(of: "entitlement-service")
      let differences = try await offPool {
        for target in [live, rebuilt] { try StoreBackup.copy(from: path, to: target) }
        try Connection(path: live, mode: .readWrite).run(
          "UPDATE balances SET amount = amount + 1 WHERE customer = 'true'")
        return try StoreComparison(live: live, rebuilt: rebuilt).differences
      }
      #expect(differences.count == 2, "\(differences)")
      #expect(differences.allSatisfy { $0.contains("balances") && $0.contains("'true'") })
    }

    @Test func `another policy is tried without touching anything`() async throws {
      let way = try way
      try await buy("whatif", "themes.all")
      let ends = try await way.journal.ends()
      let config = way.plan.file("strict.json")
      try way.plan.configuration.replacing(
        #""Sandbox": {}"#, with: #""Sandbox": { "policies": { "sandbox": "none" } }"#
      ).write(toFile: config, atomically: true, encoding: .utf8)
      let same = way.plan.file("same.jsonl")
      let (first, text) = try await purser(["replay", "what-if", "--to", same])
      #expect(first == .exit(0) && text.contains("0 rights differ"), "\(text)")
      let other = way.plan.file("other.jsonl")
      let (second, said) = try await purser([
        "replay", "what-if", "--config", config, "--to", other,
      ])
      #expect(second == .exit(0), "\(said)")
      let found = try String(contentsOfFile: other, encoding: .utf8)
      #expect(found.contains(#""customer":"whatif""#) && found.contains(#""right":"themes""#))
      #expect(try await way.journal.ends() == ends)
      #expect(try await way.owned("whatif").active("themes") != nil)
    }

    @Test func `what is published again is dropped by those who have it`() async throws {
      let way = try way
      try await buy("again", "coins.100")
      let version = try await way.owned("again").version
      let before = try await way.journal.ends()
      let dry = try await purser(["replay", "again", "transactions", "--key", "again"])
      #expect(dry.ending == .exit(0) && dry.text.contains("nothing was"), "\(dry.text)")
      #expect(try await way.journal.ends() == before)

      let resume = way.plan.file("resume")
      let (ending, text) = try await purser([
        "replay", "again", "transactions", "--key", "again", "--really", "--rate", "100",
        "--resume", resume,
      ])
      #expect(ending == .exit(0), "\(text)")
      _ = try await way.quiet()
      let replayed = way.journal.events(on: .transactions).filter { event in
        event.record.headers.contains { $0.name == "purser-replay" }
      }
      let originals = way.journal.events(on: .transactions).filter { event in
        event.key == "again" && !event.record.headers.contains { $0.name == "purser-replay" }
      }
      #expect(!replayed.isEmpty && replayed.count == originals.count)
      #expect(replayed.map(\.id) == originals.map(\.id))
      #expect(replayed.map(\.record.timestamp) == originals.map(\.record.timestamp))
      #expect(try await way.owned("again").version == version)
      #expect(try await way.balances("again").amount("coins") == 100)
      let told = way.journal.all(BalanceChanged.self) { $0.customer == "again" }
      #expect(told.count == 1)
      let rest = try await purser([
        "replay", "again", "transactions", "--key", "again", "--resume", resume,
      ])
      #expect(rest.text.contains("0 records would"), "\(rest.text)")
    }
  }
}
