import Pipeline
import SQLite

/// The table of lineages that Apple is to be asked about when their date has passed.
enum Reconciliations {
  struct Due: Sendable {
    let lineage: String
    let dueAt: Int64
    let tries: Int64
  }

  static func set(_ lineage: String, _ lane: AppleLane, dueAt: Int64, _ change: Change) throws {
    try change.transaction.run(
      """
      INSERT INTO reconciliations (lineage, bundle_id, environment, due_at) VALUES (?, ?, ?, ?)
      ON CONFLICT (lineage) DO UPDATE SET due_at = excluded.due_at, tries = 0
      """, lineage, lane.bundleId, lane.environment, dueAt)
  }

  static func postpone(_ lineage: String, to dueAt: Int64, tries: Int64, _ change: Change) throws {
    try change.transaction.run(
      "UPDATE reconciliations SET due_at = ?, tries = ? WHERE lineage = ?", dueAt, tries, lineage)
  }

  static func remove(_ lineage: String, _ change: Change) throws {
    try change.transaction.run("DELETE FROM reconciliations WHERE lineage = ?", lineage)
  }

  /// Those of a lane that wait longest.
  static func first(_ lane: AppleLane, limit: Int64, _ reader: Reader) throws -> [Due] {
    try reader.query(
      """
      SELECT lineage, due_at, tries FROM reconciliations
      WHERE bundle_id = ? AND environment = ? ORDER BY due_at LIMIT ?
      """, lane.bundleId, lane.environment, limit
    ) { row in Due(lineage: row.text(0), dueAt: row.int(1), tries: row.int(2)) }
  }
}
