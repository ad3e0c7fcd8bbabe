import Cryptography
import FoundationEssentials
import Glibc
import HTTPClient
import ServiceRuntime

/// `purser import`.
enum ImportCommand {
  static let command = Command(
    name: "import",
    synopsis: "FILE --app BUNDLE_ID [--environment E] [--url URL] [--id ID] [--no-wait]",
    summary: "Imports what was bought before Purser, from a file of ids or signed transactions",
    about: """
      Sends the records of FILE to verify-service, which fetches each customer's whole history from
      Apple, or takes the signed transactions as they are. What comes of it is marked as import, so
      that subscribers can tell it from news.

      FILE is JSON lines ({"transactionId": "…"} or {"signedTransaction": "…"}, each with an
      optional "environment"), or CSV: a header with a column transactionId,
      originalTransactionId or signedTransaction, or just one value a line.

      May be stopped and run again: it goes on behind what was taken. The same file is the same
      import, unless --id gives it another name.

      The key is taken from PURSER_ADMIN_KEY or PURSER_ADMIN_KEY_FILE; it needs the scope admin.
      """,
    options: [
      .init(name: "--app", value: "BUNDLE_ID", help: "the app of all records"),
      .init(
        name: "--environment", value: "E",
        help: "Production or Sandbox, for records that do not say; without it Apple is asked"),
      .init(
        name: "--url", value: "URL", help: "verify-service (default: http://127.0.0.1:8082)"),
      .init(
        name: "--id", value: "ID", help: "the import's name (default: from the file's contents)"),
      .init(name: "--no-wait", help: "ends when all is taken, without waiting for Apple"),
    ],
    operands: 1...1,
    examples: [
      "purser import customers.csv --app com.example.app --environment Production",
      "purser import transactions.jsonl --app com.example.app",
    ]
  ) { arguments, settings in
    guard let app = arguments.text("--app") else {
      throw arguments.error("'import' needs --app BUNDLE_ID")
    }
    let path = arguments.operands[0]
    let file = try ImportFile(path: path)
    let client = HTTPClient(workers: 1, name: "import", log: .silent, metrics: Metrics())
    let sender = SendImport(
      file: file, app: app, environment: arguments.text("--environment"),
      id: try arguments.text("--id") ?? name(of: path, app),
      url: arguments.text("--url") ?? "http://127.0.0.1:8082", key: settings.adminKey,
      client: client, terminal: Terminal(settings))
    let progress = try sender.run(waits: !arguments.has("--no-wait"))
    return progress.failed == 0 ? Tool.success : Tool.failure
  }

  private static func name(of path: String, _ app: String) throws -> String {
    let contents = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
    return "file-" + SHA256.hex(SHA256.hex([UInt8](contents)) + app).prefix(16)
  }
}

/// Sends a file's records, piece by piece, and watches what becomes of them.
struct SendImport {
  /// What the service says of an import.
  struct Progress: Decodable {
    struct Failure: Decodable {
      let line: Int64
      let reason: String
    }

    let received: Int64
    let done: Int64
    let failed: Int64
    let waiting: Int64
    let recorded: Int64
    let isFinished: Bool
    let failures: [Failure]
  }

  private struct Piece: Encodable {
    let offset: Int64
    let lines: [ImportFile.Record]
    let isLast: Bool
  }

  /// The service refused, in its own words.
  struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  let file: ImportFile
  let app: String
  let environment: String?
  let id: String
  let url: String
  let key: Secret?
  let client: HTTPClient
  let terminal: Terminal

  private static let pieceLimit = 1_000
  /// Bytes of a piece; the service takes bodies of 512 KiB.
  private static let byteLimit = 300_000

  /// Blocks until all is taken, or imported.
  func run(waits: Bool) throws -> Progress {
    var opening = ["bundleId": app]
    opening["environment"] = environment
    var progress = try call("PUT", "", try JSONEncoder().encode(opening))
    if progress.received > 0 {
      terminal.line("import \(id): \(progress.received) records were taken before")
    }
    progress = try sendRecords(progress)
    while waits, !progress.isFinished {
      sleep(1)
      progress = try call("GET", "", nil)
      terminal.line(
        "\(progress.done) done, \(progress.failed) failed, \(progress.waiting) waiting")
    }
    terminal.line(
      "import \(id): \(progress.received) records taken, \(progress.done) done, "
        + "\(progress.failed) failed, \(progress.recorded) facts recorded")
    tell(progress.failures)
    return progress
  }

  private func sendRecords(_ start: Progress) throws -> Progress {
    var progress = start
    var records = file.records(from: start.received)
    var offset = start.received
    var next = records.next()
    repeat {
      var lines: [ImportFile.Record] = []
      var bytes = 0
      while let record = next, lines.count < Self.pieceLimit, bytes < Self.byteLimit {
        lines.append(record)
        bytes += 60 + (record.signedTransaction ?? record.transactionId ?? "").utf8.count
        next = records.next()
      }
      let piece = Piece(offset: offset, lines: lines, isLast: next == nil)
      progress = try call("POST", "/lines", try JSONEncoder().encode(piece))
      offset += Int64(lines.count)
      terminal.line("\(offset) records taken, \(progress.waiting) waiting")
    } while next != nil
    return progress
  }

  /// Failures by the lines of the file.
  private func tell(_ failures: [Progress.Failure]) {
    var records = file.records(from: 0)
    var number: Int64 = 0
    for failure in failures {
      while number <= failure.line, records.next() != nil { number += 1 }
      terminal.line("line \(records.line): \(failure.reason)")
    }
  }

  /// Calls again while the service is busy.
  private func call(_ method: String, _ path: String, _ body: Data?) throws -> Progress {
    var headers = [("Content-Type", "application/json")]
    if let key { headers.append(("Authorization", "Bearer \(key.reveal)")) }
    let request = HTTPRequest(
      method: method, url: "\(url)/v1/admin/imports/\(id)\(path)", headers: headers,
      body: body.map { [UInt8]($0) }, timeout: .seconds(60))
    while true {
      let response = try client.sendAndWait(request)
      if response.isSuccess {
        return try JSONDecoder().decode(Progress.self, from: Data(response.body))
      }
      let text = String(decoding: response.body.prefix(2_000), as: UTF8.self)
      guard response.status == 503, let wait = response.header("Retry-After").flatMap(UInt32.init)
      else {
        throw Refused(description: "\(method) \(request.url): HTTP \(response.status) \(text)")
      }
      terminal.line("the service is busy: waiting \(wait) s")
      sleep(min(wait, 60))
    }
  }
}
