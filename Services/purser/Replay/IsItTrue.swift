import FoundationEssentials
import Processes
import SQLite
import ServiceRuntime

/// `purser replay true`: whether the stores are what the topics say.
enum IsItTrue {
  static let command = Command(
    name: "replay true", synopsis: "[SERVICE…]",
    summary: "Rebuilds stores beside the live ones and tells whether they are equal",
    about: """
      For each service whose store is named (ORDER_STORE, VERIFY_STORE, ENTITLEMENT_STORE) it copies the
      live store, folds another one from the topics with the service's own rebuild, compares the two row
      by row, and throws both away. Live store, groups and topics are only read: a rebuild has no producer,
      no HTTP and no timers. Equal, or the first rows that differ; exit code 1 if any do.

      Decisions of the moment are taken as they were published, so this does not ask whether they were
      right: it counts them. While a service is at work its newest rows may differ; ask again.
      """,
    options: [], operands: 0...3,
    examples: ["purser replay true", "purser replay true entitlement-service"]
  ) { arguments, settings in
    let stores = settings.doctor.stores.filter {
      arguments.operands.isEmpty || arguments.operands.contains($0.service)
    }
    guard !stores.isEmpty else {
      throw arguments.error(
        "set ORDER_STORE, VERIFY_STORE or ENTITLEMENT_STORE as the services have it")
    }
    let terminal = Terminal(settings)
    var isEqual = true
    for store in stores { isEqual = try check(store, settings, terminal) && isEqual }
    return isEqual ? Tool.success : Tool.failure
  }

  private static func check(_ store: StoreCheck.Store, _ settings: Settings, _ terminal: Terminal)
    throws -> Bool
  {
    let run = try ServiceRun(store.service, settings)
    defer { run.remove() }
    let (live, rebuilt) = (run.file("live.sqlite"), run.file("rebuilt.sqlite"))
    try StoreBackup.copy(from: store.path, to: live)
    try run.run(["rebuild"], environment: [run.storeVariable: rebuilt])
    let comparison = try StoreComparison(live: live, rebuilt: rebuilt)
    for line in comparison.differences { terminal.line("  \(line)") }
    let decided = try Self.decided(live, store.service)
    let isEqual = comparison.differences.isEmpty
    terminal.line(
      "\(store.service): \(isEqual ? "equal" : "NOT EQUAL"), \(comparison.same) rows; taken as "
        + "published: \(decided)")
    return isEqual
  }

  /// How many decisions of the moment a store has.
  private static func decided(_ path: String, _ service: String) throws -> String {
    let counts =
      switch service {
      case "order-service":
        [("orders", "orders"), ("outcomes", "proofs WHERE outcome IS NOT NULL")]
      case "verify-service": [("owners", "lineages"), ("outcomes", "proof_outcomes")]
      default:
        [("spends", "spends"), ("entries", "balance_entries"), ("events", "timeline")]
      }
    let store = try Connection(path: path, mode: .readOnly)
    return try counts.map { name, table in
      "\(try store.first("SELECT COUNT(*) FROM \(table)") { $0.int(0) } ?? 0) \(name)"
    }.joined(separator: ", ")
  }
}

/// `purser replay what-if`: who would own what under another catalog, policy or build.
enum WhatIfCommand {
  static let command = Command(
    name: "replay what-if", synopsis: "--to FILE [--config FILE] [--with EXECUTABLE]",
    summary: "Computes all customers by another catalog, policy or build, and tells who differs",
    about: """
      Folds what the topics hold into a store of its own and computes each customer anew, for the time
      for which it was computed last, by the rules of --config: another purser.json with its catalogs and
      policies. --with names the entitlement-service of another build. FILE gets a JSON object in each
      line for each right that would differ, with what was told and what would be. Nothing is published,
      sent or written elsewhere: the service's what-if has no producer, no HTTP and no timers.

      Balances are not computed: what a purchase brings is decided once, by the catalog of its time.
      """,
    options: [
      .init(name: "--to", value: "FILE", help: "where the differences go, JSON lines"),
      .init(name: "--config", value: "FILE", help: "the purser.json to compute by"),
      .init(name: "--with", value: "EXECUTABLE", help: "an entitlement-service of another build"),
    ],
    examples: ["purser replay what-if --config new/purser.json --to differences.jsonl"]
  ) { arguments, settings in
    guard let target = arguments.text("--to") else { throw arguments.error("--to FILE is missing") }
    guard !FileManager.default.fileExists(atPath: target) else {
      throw CatalogWriteError(path: target)
    }
    let run = try ServiceRun(
      "entitlement-service", settings, executable: arguments.text("--with"))
    defer { run.remove() }
    var environment = [run.storeVariable: run.file("what-if.sqlite")]
    environment["PURSER_CONFIG"] = arguments.text("--config")
    try run.run(["what-if", "--to", target], environment: environment)
    let text = String(decoding: try Data(contentsOf: URL(filePath: target)), as: UTF8.self)
    Terminal(settings).line("\(text.split(separator: "\n").count) rights differ; see \(target)")
    return Tool.success
  }
}

/// A command of a service that serves nobody, in a folder that goes away.
struct ServiceRun {
  let service: String
  private let settings: Settings
  private let executable: String
  private let folder: String

  init(_ service: String, _ settings: Settings, executable: String? = nil) throws {
    self.service = service
    self.settings = settings
    self.executable = try executable ?? Places.around().executables + "/\(service)"
    folder = "\(settings.temporaryFolder)/purser-replay-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  func file(_ name: String) -> String { "\(folder)/\(name)" }

  /// The variable that names the service's store.
  var storeVariable: String {
    "\(service.split(separator: "-")[0].uppercased())_STORE"
  }

  /// Runs it to its end, with all settings of ours and those given; blocks.
  ///
  /// - Throws: `ServiceRunFailed` with the end of its log.
  func run(_ words: [String], environment: [String: String]) throws {
    let child = try ChildProcess(
      ChildProcess.Program(
        name: service, executable: executable, arguments: words,
        environment: settings.environment.merging(environment) { $1 }, logFile: file("log")))
    let ending = child.ending.wait()
    guard ending == .exit(0) else {
      throw ServiceRunFailed(
        command: "\(service) \(words[0])", ending: ending,
        log: LogTail.lines(of: file("log"), 5).joined(separator: "\n"))
    }
  }

  func remove() { try? FileManager.default.removeItem(atPath: folder) }
}

/// A service's command that did not end well.
struct ServiceRunFailed: Error, CustomStringConvertible {
  let command: String
  let ending: ChildProcess.Ending
  let log: String
  var description: String { "\(command) ended with \(ending):\n\(log)" }
}
