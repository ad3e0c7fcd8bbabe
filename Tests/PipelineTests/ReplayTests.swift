import Events
import FoundationEssentials
import Glibc
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
    private func purser(_ words: [String], _ settings: [String: String] = [:]) async throws -> (
      ending: ChildProcess.Ending, text: String
    ) {
      let way = try way
      let child = try await offPool { try Self.start(words, settings, way) }
      let ending = await child.ending.value()
      let text = try Data(contentsOf: URL(filePath: child.program.logFile))
      return (ending, String(decoding: text, as: UTF8.self))
    }

    private static func start(_ words: [String], _ settings: [String: String], _ way: Way) throws
      -> ChildProcess
    {
      var environment = ["PATH": "/usr/bin:/bin"]
      for service in Way.services {
        environment.merge(try way.program(service).environment) { $1 }
      }
      environment["ORDER_STORE"] = way.store(of: "order-service")
      environment["VERIFY_STORE"] = way.store(of: "verify-service")
      environment["ENTITLEMENT_STORE"] = way.store(of: "entitlement-service")
      environment.merge(settings) { $1 }
      let log = way.plan.file("purser-\(UUID().uuidString).log")
      let program = ChildProcess.Program(
        name: "purser", executable: "\(way.plan.places.executables)/purser", arguments: words,
        environment: environment, logFile: log)
      return try ChildProcess(program)
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

    @Test func `a story may begin with a lineage, and end at the place of a record`() async throws {
      let way = try way
      try await buy("asker", "themes.all")
      let state = try #require(way.journal.events(on: .transactions).last { $0.key == "asker" })
      let lineage = try #require(
        way.journal.all(LineageState.self) { $0.customer == "asker" }.last?.lineage)
      let whole = try await purser(["replay", "why", "--lineage", lineage.description, "--json"])
      #expect(whole.ending == .exit(0), "\(whole.text)")
      for type in ["appstore.fact", "proof.decided", "lineage.changed", "entitlement.activated"] {
        #expect(whole.text.contains("purser.\(type).v1"), "\(type)")
      }
      let place = "transactions/\(state.record.partition)/\(state.record.offset)"
      let end = try await purser([
        "replay", "why", "asker", "--at", place, "--type", "entitlement",
      ])
      #expect(end.ending == .exit(0) && end.text.contains("owned at"), "\(end.text)")
      let nobody = try await purser(["replay", "why"])
      #expect(nobody.ending == .exit(64), "\(nobody.text)")
      let nowhere = try await purser(["replay", "why", "asker", "--at", "transactions/0/999999"])
      #expect(nowhere.ending == .exit(1) && nowhere.text.contains("no offset"), "\(nowhere.text)")
    }

    @Test func `the stores are what the topics say, and a changed row is found`() async throws {
      let way = try way
      try await buy("true", "coins.100")
      let ends = try await way.journal.ends()
      let (ending, text) = try await purser(["replay", "true"])
      #expect(ending == .exit(0), "\(text)")
      for service in Way.services { #expect(text.contains("\(service): equal"), "\(text)") }
      #expect(try await way.journal.ends() == ends, "nothing was published")

      let listed = try await purser(["replay", "true", "--customer", "true", "--decisions"])
      #expect(listed.ending == .exit(0), "\(listed.text)")
      for words in ["as published", "coins 100 (+100)", "1 owner", "1 outcome", "1 credit"] {
        #expect(listed.text.contains(words), "\(words): \(listed.text)")
      }

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
      #expect(differences.allSatisfy { $0.table == "balances" && $0.row.contains("'true'") })

      // The causes of a difference are told: the event, the lineage, the fact, the proof.
      let found = try await purser(
        ["replay", "true", "entitlement-service"], ["ENTITLEMENT_STORE": live])
      #expect(found.ending == .exit(1), "\(found.text)")
      for words in [
        "only live: balances", "amount='101'", "only rebuilt: balances", "told by",
        "coins 100 (+100), version 1 by purchase", "which came of", "lineage.changed",
        "appstore.fact", "NOT EQUAL",
      ] {
        #expect(found.text.contains(words), "\(words): \(found.text)")
      }
      let file = way.plan.file("truth.sqlite")
      let kept = try await purser(
        ["replay", "true", "entitlement-service", "--to", file], ["ENTITLEMENT_STORE": live])
      #expect(kept.ending == .exit(1), "\(kept.text)")
      let chain = try await offPool {
        try Connection(path: file, mode: .readOnly).query(
          """
          SELECT causes.type FROM differences JOIN causes ON causes.difference = number
          WHERE only_in = 'live' ORDER BY depth
          """
        ) { $0.text(0) }
      }
      #expect(chain.first == "purser.balance.changed.v1" && chain.count >= 3, "\(chain)")
      let decisions = try await offPool {
        try Connection(path: file, mode: .readOnly).query(
          "SELECT decision FROM decisions WHERE key = 'true'"
        ) { $0.text(0) }
      }
      #expect(decisions == ["credit"])
    }

    @Test func `a place of --resume that holds something else is refused and left as it is`()
      async throws
    {
      let way = try way
      let files = FileManager.default
      let store = way.store(of: "order-service")
      let text = way.plan.file("notes.txt")
      try Data("not a story".utf8).write(to: URL(filePath: text))
      for path in [store, text] {
        let told = try await purser(["replay", "why", "teller", "--resume", path])
        #expect(told.ending == .exit(1) && told.text.contains("no replay has made"), "\(told.text)")
        #expect(files.fileExists(atPath: path))
      }
      #expect(files.fileExists(atPath: store + "-wal"), "the store of a service at work")
      #expect(try await way.order("after-a-replay", "themes.all").customer == "after-a-replay")

      let folder = way.plan.file("volumes")
      let copy = "\(folder)/entitlement-service/entitlement.sqlite"
      try files.createDirectory(
        atPath: "\(folder)/entitlement-service", withIntermediateDirectories: true)
      try files.copyItem(atPath: way.store(of: "entitlement-service"), toPath: copy)
      for words in [["what-if"], ["true", "entitlement-service"]] {
        let told = try await purser(["replay"] + words + ["--resume", folder])
        #expect(told.ending == .exit(1) && told.text.contains("no replay has made"), "\(told.text)")
        #expect(files.fileExists(atPath: copy))
      }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `one that is interrupted leaves nothing of the customers behind`(signal: Int32)
      async throws
    {
      let way = try way
      let folder = way.plan.file("interrupted-\(signal)")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      let child = try await offPool {
        try Self.start(["replay", "what-if"], ["TMPDIR": folder], way)
      }
      func held() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      }
      _ = try await eventually("the folder is made") { held().isEmpty ? nil : true }
      child.send(signal)
      #expect(await child.ending.value() == .exit(128 + signal))
      #expect(held() == [])
    }

    @Test func `what cannot be published again is told before anything is written`() async throws {
      let way = try way
      let state = try await purser(["replay", "again", "entitlement-state", "--really"])
      #expect(state.ending == .exit(64) && state.text.contains("hide a newer one"), "\(state.text)")
      let away = try await purser([
        "replay", "again", "entitlements", "--really", "--broker", "127.0.0.1:1",
      ])
      #expect(away.ending == .exit(1) && away.text.contains("broker"), "\(away.text)")
      let progress = way.plan.file("again-progress")
      let words = ["replay", "again", "entitlements", "--resume", progress, "--really", "--key"]
      #expect(try await purser(words + ["nobody"]).ending == .exit(0))
      let other = try await purser(words + ["somebody"])
      #expect(other.ending == .exit(1) && other.text.contains("another question"), "\(other.text)")
      let part = try await purser(["replay", "true", "--lineage", "2000000123456789"])
      #expect(part.ending == .exit(64) && part.text.contains("give it whole"), "\(part.text)")
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
      #expect(first == .exit(0) && text.contains("0 rights and balances differ"), "\(text)")
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

    @Test func `another catalog tells which balances it would make, also as a file to query`()
      async throws
    {
      let way = try way
      try await buy("thrifty", "coins.100")
      _ = try await way.send(
        "POST", "entitlement-service", "/v1/customers/thrifty/spends",
        body: Array(#"{"units": {"coins": 70}, "environment": "Sandbox"}"#.utf8),
        headers: [("Idempotency-Key", "thrifty")])
      _ = try await way.quiet()
      let shop = URL(filePath: way.plan.places.catalog).deletingLastPathComponent().path
      try FileManager.default.copyItem(
        atPath: "\(shop)/Store.storekit", toPath: way.plan.file("Store.storekit"))
      try String(contentsOfFile: way.plan.places.catalog, encoding: .utf8)
        .replacing(#""coins": 100"#, with: #""coins": 50"#)
        .write(toFile: way.plan.file("half.json"), atomically: true, encoding: .utf8)
      let config = way.plan.file("half-purser.json")
      try way.plan.configuration.replacing(
        way.plan.places.catalog, with: way.plan.file("half.json")
      )
      .write(toFile: config, atomically: true, encoding: .utf8)
      let file = way.plan.file("half.sqlite")
      let (ending, text) = try await purser([
        "replay", "what-if", "--config", config, "--customer", "thrifty", "--to", file,
      ])
      #expect(ending == .exit(0) && text.contains("1 rights and balances differ"), "\(text)")
      let found = try await offPool {
        try Connection(path: file, mode: .readOnly).query(
          "SELECT customer, unit, amount_told, amount_derived, type FROM findings"
        ) { "\($0.text(0)) \($0.text(1)) \($0.int(2)) \($0.int(3)) \($0.text(4))" }
      }
      #expect(found == ["thrifty coins 30 -20 purser.balance.changed.v1"])
      #expect(text.contains("of 1 customer;"), "\(text)")
      // That nobody was found is no answer of "nothing would change".
      for whom in [["--customer", "thirfty"], ["--lineage", "sandbox/77/2000009999999999"]] {
        let nobody = try await purser(["replay", "what-if", "--config", config] + whom)
        #expect(nobody.ending == .exit(1), "\(nobody.text)")
        #expect(nobody.text.contains("is the id right?"), "\(nobody.text)")
      }
      let said = try await purser([
        "replay", "what-if", "--config", config, "--customer", "thrifty",
      ])
      #expect(said.text.contains("told: 30  would be: -20"), "\(said.text)")
      let before = try await purser([
        "replay", "what-if", "--config", config, "--customer", "thrifty", "--at", "1d",
      ])
      #expect(before.text.contains("0 rights and balances differ"), "\(before.text)")
      let rights = try await purser([
        "replay", "what-if", "--config", config, "--type", "entitlement",
      ])
      #expect(rights.text.contains("0 rights and balances differ"), "\(rights.text)")
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
