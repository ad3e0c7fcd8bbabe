import SQLite

@testable import purser

/// A store in a form that can be compared: all that a rebuild must bring back, a line for each row of what
/// `purser replay true` compares.
struct CanonicalStore: Sendable {
  let lines: Set<String>

  /// Reads a store's file beside its service or without it; blocks.
  init(_ path: String) throws {
    let store = try Connection(path: path, mode: .readOnly)
    var lines: Set<String> = []
    for (table, columns) in try StoreComparison.tables(of: store) {
      for line in try store.query(
        "SELECT \(StoreComparison.line(columns, of: table)) FROM \(table)", map: { $0.text(0) })
      {
        lines.insert("\(table): \(line)")
      }
    }
    self.lines = lines
  }

  /// The first lines by which it differs from another; empty when they are the same.
  func differences(from other: CanonicalStore, limit: Int = 6) -> [String] {
    lines.subtracting(other.lines).sorted().prefix(limit).map { "only before: \($0)" }
      + other.lines.subtracting(lines).sorted().prefix(limit).map { "only rebuilt: \($0)" }
  }
}
