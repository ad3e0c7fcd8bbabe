import Events
import HTTPServer
import Pipeline
import SQLite

/// Takes files of ids and signed transactions, a piece at a time.
///
/// Lines are counted: a piece that was taken before changes nothing, so the sender may begin again
/// where the progress stands.
struct TakeImport: Sendable {
  /// Opens an import.
  struct Opening: Decodable, Sendable {
    var bundleId: String
    /// Nil when the file does not say; Apple is asked for each id.
    var environment: String?
  }

  /// A piece of the file.
  struct Piece: Decodable, Sendable {
    struct Line: Decodable, Sendable {
      var transactionId: String?
      var signedTransaction: String?
      var environment: String?
    }

    /// How many lines of the file stand before this piece.
    var offset: Int64
    var lines: [Line]
    /// Whether the file ends with it.
    var isLast: Bool?
  }

  /// How far an import is.
  struct Progress: Encodable, Sendable {
    struct Failure: Encodable, Sendable {
      let line: Int64
      let reason: String
    }

    let id: String
    let bundleId: String
    let environment: String?
    /// Lines that were taken; the next piece begins here.
    let received: Int64
    let done: Int64
    let failed: Int64
    let waiting: Int64
    /// Facts that were news.
    let recorded: Int64
    /// Whether all of the file was taken and nothing of it waits.
    let isFinished: Bool
    let failures: [Failure]
  }

  /// Lines of one piece, at most.
  static let pieceLimit = 1_000

  let store: Store
  let apps: Set<String>
  let lanes: Set<AppleLane>

  func open(_ id: String, _ opening: Opening) async throws -> Progress {
    guard (1...64).contains(id.utf8.count), id.utf8.allSatisfy({ Self.isPlain($0) }) else {
      throw Self.invalid("id", "An import's id has 1 to 64 letters, digits, dots and hyphens.")
    }
    guard apps.contains(opening.bundleId) else {
      throw Self.invalid("bundleId", "'\(opening.bundleId)' is not in purser.json.")
    }
    try check(opening.environment, opening.bundleId)
    _ = try await store.change { change in
      try change.transaction.run(
        """
        INSERT INTO imports (id, bundle_id, environment, created_at) VALUES (?, ?, ?, ?)
        ON CONFLICT DO NOTHING
        """, id, opening.bundleId, opening.environment, change.now)
    }
    let known = try await progress(id)
    guard known.bundleId == opening.bundleId, known.environment == opening.environment else {
      throw Problem(
        status: 409, type: "import-differs", title: "Import differs",
        detail: "The import '\(id)' was opened for \(known.bundleId), "
          + "\(known.environment ?? "any environment"). Give another id.")
    }
    return known
  }

  func take(_ id: String, _ piece: Piece) async throws -> Progress {
    guard (0...Self.pieceLimit).contains(piece.lines.count) else {
      throw Self.invalid("lines", "A piece has at most \(Self.pieceLimit) lines.")
    }
    let known = try await progress(id)
    guard piece.offset <= known.received else {
      throw Problem(
        status: 409, type: "import-gap", title: "Lines are missing",
        detail: "The piece begins at line \(piece.offset), and \(known.received) were taken. "
          + "Go on with offset \(known.received).",
        members: ["received": .integer(known.received)])
    }
    guard known.waiting < ImportStore.waitingLimit else {
      throw Problem(
        status: 503, type: "import-busy", title: "Too much waits",
        detail: "\(known.waiting) lines wait to be imported. Go on when there are fewer.",
        retryAfter: .seconds(5))
    }
    for line in piece.lines { try check(line.environment, known.bundleId) }
    try await store.change { change in try Self.insert(id, piece, known, change) }
    return try await progress(id)
  }

  private static func insert(
    _ id: String, _ piece: Piece, _ known: Progress, _ change: Change
  ) throws {
    let received =
      try change.transaction.first("SELECT received FROM imports WHERE id = ?", id) { $0.int(0) }
      ?? 0
    for (index, line) in piece.lines.enumerated() {
      let number = piece.offset + Int64(index)
      // Another sender may have been faster since the progress was read.
      guard number >= received else { continue }
      let value = line.signedTransaction ?? line.transactionId ?? ""
      guard isUsable(line) else {
        try ImportStore.fail(
          id, line: number, "neither a transaction id of digits nor a signed transaction", change)
        continue
      }
      let kind: ImportStore.Kind = line.signedTransaction == nil ? .id : .signed
      try change.transaction.run(
        """
        INSERT INTO import_items
          (import_id, line, kind, bundle_id, environment, value, next_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """, id, number, kind.rawValue, known.bundleId, line.environment ?? known.environment,
        value, change.now)
    }
    let end = piece.offset + Int64(piece.lines.count)
    try change.transaction.run(
      """
      UPDATE imports SET received = max(received, ?), is_complete = max(is_complete, ?)
      WHERE id = ?
      """, end, piece.isLast == true && end >= received, id)
  }

  private static func isUsable(_ line: Piece.Line) -> Bool {
    if let signed = line.signedTransaction {
      return line.transactionId == nil && signed.utf8.count <= Proof.maximumSignedBytes
        && signed.split(separator: ".", omittingEmptySubsequences: false).count == 3
    }
    let id = line.transactionId ?? ""
    return (1...30).contains(id.utf8.count) && id.utf8.allSatisfy { (48...57).contains($0) }
  }

  func progress(_ id: String) async throws -> Progress {
    let found = try await store.readers.read { reader -> Progress? in
      let waiting =
        try reader.first("SELECT count(*) FROM import_items WHERE import_id = ?", id) {
          $0.int(0)
        } ?? 0
      let failures = try reader.query(
        "SELECT line, reason FROM import_failures WHERE import_id = ? ORDER BY line LIMIT 100", id
      ) { row in Progress.Failure(line: row.int(0), reason: row.text(1)) }
      return try reader.first(
        """
        SELECT bundle_id, environment, received, done, failed, recorded, is_complete FROM imports
        WHERE id = ?
        """, id
      ) { row in
        Progress(
          id: id, bundleId: row.text(0), environment: row.optionalText(1), received: row.int(2),
          done: row.int(3), failed: row.int(4), waiting: waiting, recorded: row.int(5),
          isFinished: row.bool(6) && waiting == 0, failures: failures)
      }
    }
    guard let found else {
      throw Problem(
        status: 404, type: "unknown-import", title: "Unknown import",
        detail: "There is no import '\(id)'. PUT /v1/admin/imports/\(id) opens it.")
    }
    return found
  }

  private func check(_ environment: String?, _ bundleId: String) throws(Problem) {
    guard let environment else { return }
    guard lanes.contains(AppleLane(bundleId: bundleId, environment: environment)) else {
      throw Self.invalid(
        "environment", "'\(environment)' is not served for \(bundleId) with an API key.")
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."): true
    default: false
    }
  }

  private static func invalid(_ path: String, _ detail: String) -> Problem {
    Problem(
      status: 400, type: "invalid-field", title: "Invalid field", detail: "$.\(path): \(detail)",
      members: ["path": .string("$.\(path)")])
  }
}
