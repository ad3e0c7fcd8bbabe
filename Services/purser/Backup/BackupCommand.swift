import FoundationEssentials
import Pipeline
import SQLite
import ServiceRuntime

/// `purser backup`.
enum BackupCommand {
  static let command = Command(
    name: "backup", synopsis: "[STORE…] --to FOLDER",
    summary: "Copies the stores of this machine while their services run",
    about: """
      Makes a consistent copy of each store, checks it, and names it by its time: orders-20270131T030000Z.sqlite
      beside its fellows in FOLDER, or orders-0-of-3-20270131T030000Z.sqlite where it is one of several
      shards. Without STORE it copies those that ORDER_STORE, VERIFY_STORE and ENTITLEMENT_STORE name. The
      services are not held up.

      A copy holds more than the topics do: API-made settings, the log of writes, webhooks. To come back
      after a lost disk run the service's own command, with the newest copy:

        entitlement-service rebuild --backup FOLDER/entitlement-20270131T030000Z.sqlite

      Never start a service on a copy itself: it knows less than the service has published, and the
      service refuses it.
      """,
    options: [.init(name: "--to", value: "FOLDER", help: "where the copies go; made if need be")],
    operands: 0...16,
    examples: [
      "purser backup --to /backup", "purser backup /var/lib/purser/orders.sqlite --to /backup",
    ]
  ) { arguments, settings in
    guard let folder = arguments.text("--to") else {
      throw arguments.error("--to FOLDER is missing")
    }
    let stores =
      arguments.operands.isEmpty ? settings.doctor.stores.map(\.path) : arguments.operands
    guard !stores.isEmpty else {
      throw arguments.error(
        "name a store, or set ORDER_STORE, VERIFY_STORE and ENTITLEMENT_STORE as the services have "
          + "them")
    }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let terminal = Terminal(settings)
    let time = SystemClock().now()
    for store in stores {
      let name = URL(filePath: store).deletingPathExtension().lastPathComponent
      let copies = StoreCopies(of: name, try StoreLabel(of: store).shard)
      let target = "\(folder)/\(copies.name(at: time))"
      var pages = 0
      try StoreBackup.copy(from: store, to: target) { _, all in pages = all }
      terminal.line("\(store) is copied to \(target), \(pages) pages")
    }
    return Tool.success
  }
}
