import Kafka
import SQLite
import ServiceRuntime

/// Copies rows from the stores of before to those of afterwards, each to where its key leads.
struct ReshardCopy {
  let sources: [ReshardSource]
  let targets: [ReshardTarget]

  /// Rows of one COMMIT.
  private static let batch = 2_000

  /// Copies a table, and counts what arrived.
  ///
  /// - Throws: `ReshardError.differs` when not every row is where it must be.
  func copy(_ table: ReshardPlan.Table) throws -> Int64 {
    let name: String
    if case .byTime = table.numbers {
      name = "reshard_\(table.name)"
      for target in targets {
        try target.store.changeAndWait { [table] change in
          _ = try change.transaction.run(
            "CREATE TEMPORARY TABLE \(name) AS SELECT * FROM \(table.name) WHERE 0")
        }
      }
    } else {
      name = table.name
    }
    var written: Int64 = 0
    for source in sources { written += try copy(table, from: source, into: name) }
    if case .byTime(let columns) = table.numbers {
      for target in targets {
        try target.store.changeAndWait { [table] change in
          try change.transaction.run(
            """
            INSERT INTO \(table.name) (\(columns)) SELECT \(columns) FROM \(name)
            ORDER BY at, id
            """)
          try change.transaction.run("DROP TABLE \(name)")
        }
      }
    }
    guard table.key != nil else { return written }
    let arrived = try targets.reduce(Int64(0)) { try $0 + $1.count(table.name) }
    guard arrived == written else {
      throw ReshardError.differs(
        "of \(table.name) \(written) rows were read and \(arrived) are there")
    }
    return written
  }

  private func copy(
    _ table: ReshardPlan.Table, from source: ReshardSource, into name: String
  ) throws -> Int64 {
    let counted = try source.connection.first(
      "SELECT COUNT(*) FROM pragma_table_info('\(table.name)')"
    ) { $0.int(0) }
    let columns = Int32(counted ?? 0)
    guard columns > 0 else {
      throw ReshardError.incomplete("\(source.path) has no table \(table.name)")
    }
    var parts = targets.map { ReshardPart($0, name, columns: Int(columns)) }
    var rows: Int64 = 0
    let many = Int64(sources.count)
    try source.connection.forEach(
      """
      SELECT t.*, (\(table.key ?? "NULL")), (\(table.copyKey ?? "NULL")) FROM \(table.name) AS t
      """
    ) { row in
      var values = (0..<columns).map { row.value($0) }
      if case .apart(let column) = table.numbers, case .integer(let number) = values[column] {
        values[column] = .integer(number * many + Int64(source.shard.ordinal))
      }
      guard table.key != nil else {
        for index in parts.indices { try parts[index].add(values, limit: Self.batch) }
        rows += 1
        return true
      }
      let key = row.optionalText(columns)
      // A copy for finding merged customers is made anew; the row itself lies where its key led.
      if let key, !source.shard.owns(key: key) { return true }
      let home = key.map { targets[0].shard.home(of: $0) } ?? 0
      try parts[home].add(values, limit: Self.batch)
      rows += 1
      if let copy = row.optionalText(columns + 1).map({ targets[0].shard.home(of: $0) }),
        copy != home
      {
        try parts[copy].add(values, limit: Self.batch)
        rows += 1
      }
      return true
    }
    for index in parts.indices { try parts[index].flush() }
    return rows
  }

  /// Notes ids that lead to another shard than their customer's.
  func note(_ parted: ReshardPlan.Parted) throws {
    let any = targets[0].shard
    for source in sources {
      var found: [Int: [(String, Int32)]] = [:]
      try source.connection.forEach(parted.select) { row in
        let (id, customer) = (row.text(0), row.text(1))
        let led: Int32? =
          switch parted.lead {
          case .key: any.partition(of: id)
          case .partitionInID: IDPartition.partition(of: id, partitions: any.partitions)
          }
        let partition = any.partition(of: customer)
        guard let led, any.home(of: led) != any.home(of: partition) else { return true }
        let name = parted.isHashed ? Elsewhere.name(ofCustomer: id) : id
        found[any.home(of: led), default: []].append((name, partition))
        return true
      }
      for (home, notes) in found {
        try targets[home].store.changeAndWait { change in
          for (name, partition) in notes {
            try Elsewhere.insert(change.transaction, name, partition: partition)
          }
        }
      }
    }
  }

  /// Records that wait to be handled go with their partitions.
  func copyWaitingRecords() throws {
    let columns = "topic, partition, record_offset, timestamp, key, value, headers, reason"
    for source in sources {
      let rows = try source.connection.query(
        "SELECT \(columns) FROM waiting_records ORDER BY id"
      ) { row in (partition: row.int(1), values: (0..<Int32(8)).map { row.value($0) }) }
      for row in rows {
        let home = targets[0].shard.home(of: Int32(truncatingIfNeeded: row.partition))
        try targets[home].store.changeAndWait { change in
          _ = try change.transaction.run(
            "INSERT INTO waiting_records (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            values: row.values.map { $0 })
        }
      }
    }
  }
}

/// The rows of one table that go to one store.
private struct ReshardPart {
  private let target: ReshardTarget
  private let insert: String
  private var rows: [[Value]] = []

  init(_ target: ReshardTarget, _ table: String, columns: Int) {
    self.target = target
    let marks = Array(repeating: "?", count: columns).joined(separator: ", ")
    insert = "INSERT OR IGNORE INTO \(table) VALUES (\(marks))"
  }

  mutating func add(_ row: [Value], limit: Int) throws {
    rows.append(row)
    if rows.count >= limit { try flush() }
  }

  mutating func flush() throws {
    let (part, insert) = (rows, insert)
    rows = []
    guard !part.isEmpty else { return }
    try target.store.changeAndWait { change in
      for row in part { try change.transaction.run(insert, values: row.map { $0 }) }
    }
  }
}

extension ReshardTarget {
  func count(_ table: String) throws -> Int64 {
    try store.readers.readAndWait { reader in
      try reader.first("SELECT COUNT(*) FROM \(table)") { $0.int(0) } ?? 0
    }
  }
}
