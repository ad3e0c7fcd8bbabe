import Events
import Glibc
import SQLite
import ServiceRuntime

/// What was found while a store was made, gathered in the store, so that one that was killed goes on.
extension Rebuild {
  /// Makes the table; a step.
  public func makeFindings() throws {
    try change { change in
      try change.transaction.run(
        "CREATE TABLE rebuild_findings (id INTEGER PRIMARY KEY, line BLOB NOT NULL)")
    }
  }

  /// Adds a finding, in the job that found it.
  public static func find(_ finding: some Encodable, _ change: Change) throws {
    try change.transaction.run(
      "INSERT INTO rebuild_findings (line) VALUES (?)", try EventJSON.encode(finding))
  }

  /// Writes all findings to a file, a line of JSON each.
  ///
  /// Blocks. The file gets its name when it is whole.
  public func writeFindings(to target: String) throws {
    let part = "\(target).part"
    let file = unsafe open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw RebuildError.cannotWrite(target, code: errno) }
    defer { Glibc.close(file) }
    var last: Int64 = 0
    var count = 0
    while true {
      let after = last
      let lines = try look { change in
        try change.transaction.query(
          "SELECT id, line FROM rebuild_findings WHERE id > ? ORDER BY id LIMIT 500", after
        ) { (id: $0.int(0), line: $0.blob(1)) }
      }
      guard let end = lines.last else { break }
      last = end.id
      count += lines.count
      let bytes = lines.flatMap { $0.line + [UInt8(ascii: "\n")] }
      guard unsafe write(file, bytes, bytes.count) == bytes.count else {
        throw RebuildError.cannotWrite(target, code: errno)
      }
    }
    guard unsafe rename(part, target) == 0 else {
      throw RebuildError.cannotWrite(target, code: errno)
    }
    log.info("computed", ["differences": LogValue(count)])
  }
}
