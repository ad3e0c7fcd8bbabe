import FoundationEssentials
import Glibc
import SQLite

/// Where the answer of a replay goes: the terminal, lines of JSON, or a SQLite file that can be queried.
///
/// A file gets its name when it is whole; one that is there is not written over.
final class ReplayOutput {
  /// One member of a row.
  enum Field {
    case text(String?)
    case number(Int64?)
    /// JSON as it is.
    case json(String?)
  }

  private enum Form {
    case people(Terminal)
    case lines(Terminal)
    case file(Int32)
    case store(Table)
  }

  /// A connection that an enumeration can hold.
  private final class Table {
    let file: Connection
    init(path: String) throws { file = try Connection(path: path, mode: .readWrite) }
  }

  /// How many rows were put.
  private(set) var count = 0
  private let form: Form
  private let path: String?
  private var buffer: [UInt8] = []

  /// What a SQLite file may hold; a command fills those of its answer.
  private static let tables = [
    """
    CREATE TABLE records (
      topic TEXT, partition INTEGER, record_offset INTEGER, time INTEGER, key TEXT, type TEXT,
      value TEXT, line TEXT)
    """,
    """
    CREATE TABLE findings (
      customer TEXT, environment TEXT, type TEXT, at INTEGER, entitlement TEXT, unit TEXT,
      lineage TEXT, amount_told INTEGER, amount_derived INTEGER, finding TEXT)
    """,
    """
    CREATE TABLE differences (
      number INTEGER, service TEXT, only_in TEXT, store_table TEXT, store_row TEXT)
    """,
    """
    CREATE TABLE causes (
      difference INTEGER, depth INTEGER, service TEXT, topic TEXT, partition INTEGER,
      record_offset INTEGER, time INTEGER, key TEXT, type TEXT, line TEXT)
    """,
    """
    CREATE TABLE decisions (
      decision TEXT, service TEXT, topic TEXT, partition INTEGER, record_offset INTEGER,
      time INTEGER, key TEXT, type TEXT, line TEXT)
    """,
  ]

  /// Options of all commands that answer with it.
  static let options: [Command.Option] = [
    .init(name: "--json", help: "a JSON object in each line"),
    .init(
      name: "--to", value: "FILE",
      help: """
        write to FILE instead: a SQLite file that can be queried if its name
        ends in .sqlite, otherwise JSON lines
        """),
  ]

  /// Opens what `--to` and `--json` ask for.
  init(_ arguments: Arguments, _ settings: Settings) throws {
    path = arguments.text("--to")
    guard let path else {
      let terminal = Terminal(settings)
      form = arguments.has("--json") ? .lines(terminal) : .people(terminal)
      return
    }
    guard !FileManager.default.fileExists(atPath: path) else { throw CatalogWriteError(path: path) }
    for name in ["", "-wal", "-shm"] { unsafe unlink("\(path).part\(name)") }
    let file = try Self.open("\(path).part")
    if path.hasSuffix(".sqlite") {
      close(file)
      let store = try Table(path: "\(path).part")
      for table in Self.tables { try store.file.run(table) }
      try store.file.run("BEGIN")
      form = .store(store)
    } else {
      form = .file(file)
    }
  }

  /// Opens a file for writing, made if need be, that only its owner reads: it will hold what customers bought.
  static func open(_ path: String) throws -> Int32 {
    let file = unsafe Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw ReplayWriteError(path: path, code: errno) }
    return file
  }

  /// Whether a person reads it at the terminal.
  var isForPeople: Bool { if case .people = form { true } else { false } }

  /// Adds a row.
  ///
  /// - Parameters:
  ///   - table: Its table in a SQLite file, and its `is` in JSON.
  ///   - json: The line of JSON, where it is not made of the members.
  ///   - text: The line for people.
  func put(
    _ table: String, _ members: [(String, Field)], json: @autoclosure () -> String? = nil,
    text: @autoclosure () -> String
  ) throws {
    count += 1
    switch form {
    case .people(let terminal): terminal.line(text())
    case .lines(let terminal): terminal.line(json() ?? Self.json(table, members))
    case .file(let file):
      buffer += Array((json() ?? Self.json(table, members)).utf8) + [UInt8(ascii: "\n")]
      if buffer.count > 256 * 1024 { try flush(file) }
    case .store(let store):
      try insert(members, into: table, store)
      if count.isMultiple(of: 10_000) {
        try store.file.run("COMMIT")
        try store.file.run("BEGIN")
      }
    }
  }

  /// A line for people beside the rows; nothing in a file.
  func say(_ text: @autoclosure () -> String) {
    if case .people(let terminal) = form { terminal.line(text()) }
  }

  /// Makes the file whole and gives it its name.
  func finish() throws {
    guard let path else { return }
    switch form {
    case .file(let file):
      try flush(file)
      close(file)
    case .store(let store):
      try store.file.run("COMMIT")
      // One file, without a log beside it.
      _ = try store.file.query("PRAGMA journal_mode = DELETE") { $0.text(0) }
    case .people, .lines: return
    }
    guard unsafe rename("\(path).part", path) == 0 else {
      throw ReplayWriteError(path: path, code: errno)
    }
  }

  private func flush(_ file: Int32) throws {
    var rest = buffer[...]
    while !rest.isEmpty {
      let written = unsafe rest.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
      guard written > 0 else { throw ReplayWriteError(path: path ?? "", code: errno) }
      rest = rest.dropFirst(written)
    }
    buffer.removeAll(keepingCapacity: true)
  }

  /// The members are our own names, so they need no quoting.
  private func insert(_ members: [(String, Field)], into table: String, _ store: Table) throws {
    let marks = members.map { _ in "?" }.joined(separator: ", ")
    let names = members.map(\.0).joined(separator: ", ")
    try store.file.run(
      "INSERT INTO \(table) (\(names)) VALUES (\(marks))",
      values: members.map { _, field in
        switch field {
        case .text(let text), .json(let text): text
        case .number(let number): number
        }
      })
  }

  private static func json(_ table: String, _ members: [(String, Field)]) -> String {
    let known = members.compactMap { name, field -> (String, String)? in
      switch field {
      case .text(let text): text.map { (name, RecordJSON.quoted($0)) }
      case .number(let number): number.map { (name, "\($0)") }
      case .json(let text): text.map { (name, $0) }
      }
    }
    return RecordJSON.object([("is", RecordJSON.quoted(table))] + known)
  }
}

/// A file that could not be written.
struct ReplayWriteError: Error, CustomStringConvertible {
  let path: String
  let code: Int32
  var description: String { "\(path) cannot be written (error \(code))" }
}
