import FoundationEssentials
import SQLite
import ServiceRuntime

/// `purser reshard`: another number of shards, with all services stopped.
enum ReshardCommand {
  /// The services and the names of their stores in a folder.
  static let stores = [
    (service: "order-service", file: "orders.sqlite"),
    (service: "verify-service", file: "verify.sqlite"),
    (service: "entitlement-service", file: "entitlement.sqlite"),
  ]

  static let command = Command(
    name: "reshard", synopsis: "--from FOLDERS --to FOLDERS",
    summary: "Makes the stores of another number of shards, while the services are stopped",
    about: """
      FOLDERS are the volumes of the shards, with commas between: as many as there were, and as many as
      there will be, each with orders.sqlite, verify.sqlite and entitlement.sqlite. A service whose stores
      are in other volumes is done with a command of its own.

      Stop what takes requests first, wait until everything is read and published, then stop the rest. It
      is checked before: every shard's store is there once, nobody uses one, nothing waits to be published,
      and what all shards read in full all have read to the same place. And after: every row is where its
      key leads, and none is missing. The new stores take their names only then; the old ones are only read.
      The positions are committed for the new shards, so that a lost volume of theirs can be rebuilt. Where one
      service's stores cannot be made, those of the others are removed again.

      Start the services with the new PURSER_SHARD_COUNT, each on its new folder.
      """,
    options: [
      .init(name: "--from", value: "FOLDERS", help: "the volumes of the shards as they are"),
      .init(name: "--to", value: "FOLDERS", help: "those of the shards as they will be"),
    ],
    examples: [
      "purser reshard --from /v/0 --to /w/0,/w/1,/w/2",
      "purser reshard --from /w/0,/w/1,/w/2 --to /x/0,/x/1",
    ]
  ) { arguments, settings in
    let from = try folders("--from", arguments)
    let to = try folders("--to", arguments)
    let terminal = Terminal(settings)
    let present = stores.filter { store in
      from.contains { FileManager.default.fileExists(atPath: "\($0)/\(store.file)") }
    }
    guard !present.isEmpty else {
      throw arguments.error(
        "there is no orders.sqlite, verify.sqlite or entitlement.sqlite in \(from[0])")
    }
    for folder in to {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    var made: [String] = []
    do {
      for store in present {
        let targets = to.map { "\($0)/\(store.file)" }
        let run = try ServiceRun(store.service, settings, resuming: nil, question: "reshard")
        defer { run.remove() }
        try run.run(
          [
            "reshard", "--from", from.map { "\($0)/\(store.file)" }.joined(separator: ","),
            "--to", targets.joined(separator: ","),
          ],
          // The command itself is no shard.
          environment: ["PURSER_SHARD_COUNT": "1", "PURSER_SHARD": ""])
        made += targets
        terminal.line("\(store.service): \(from.count) to \(to.count) shards")
      }
    } catch {
      // All services or none: so the same command can be given again.
      for file in made { try? FileManager.default.removeItem(atPath: file) }
      throw error
    }
    terminal.line("Start the services with PURSER_SHARD_COUNT=\(to.count).")
    return Tool.success
  }

  private static func folders(_ option: String, _ arguments: Arguments) throws -> [String] {
    let folders = (arguments.text(option) ?? "").split(separator: ",").map(String.init)
    guard !folders.isEmpty else { throw arguments.error("\(option) FOLDERS is missing") }
    return folders
  }
}
