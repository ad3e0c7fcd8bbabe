import Events
import FoundationEssentials
import Pipeline
import SQLite
import ServiceRuntime

/// `entitlement-service what-if`: who would own what by the rules of this configuration and build.
///
/// A rebuild beside everything else, whose store is thrown away.
enum WhatIf {
  static let command = Program.Command<Settings>(
    name: "what-if",
    help: """
      what-if --to FILE --computed FILE [--customer C] [--lineage L] [--type T] [--at MILLISECONDS]
        computes customers by this configuration, beside the service, and writes who would own something
        else, and how many were computed; for 'purser replay what-if'
      """,
    options: ["--to", "--computed", "--customer", "--lineage", "--type", "--at"], run: run)

  static func run(_ settings: Settings, _ options: [String: String], _ log: Log) throws {
    guard let target = options["--to"], let computed = options["--computed"] else {
      throw WhatIfError.noTarget
    }
    let question = Question(
      rules: settings.rules, customer: options["--customer"], lineage: options["--lineage"],
      type: options["--type"])
    let time = try options["--at"].map { text in
      guard let time = Int64(text) else { throw WhatIfError.noTime(text) }
      return time
    }
    let rebuild = try RebuildEntitlements.begin(
      settings, RebuildWish(isBeside: true), at: time, log: log)
    try RebuildEntitlements.fold(rebuild, settings, of: question.customer)
    let count = try rebuild.look { try question.count($0) }
    try Data("\(count)".utf8).write(to: URL(filePath: computed), options: .atomic)
    try question.answer(rebuild, into: target)
    // Only now: whoever is killed before goes on with it.
    rebuild.discard()
  }

  /// Whose rights and balances are computed, and by which rules.
  struct Question: Sendable {
    let rules: Rules
    /// One customer alone, under any id of it.
    var customer: String?
    /// Only who has this lineage.
    var lineage: String?
    /// Only differences of types that are this one or have it in them.
    var type: String?

    /// Computes everyone of a folded store, and writes a line of JSON for each difference.
    ///
    /// Blocks.
    func answer(_ rebuild: Rebuild, into target: String) throws {
      let question = self
      try rebuild.makeFindings()
      try rebuild.changeInParts(from: "") { change, cursor in
        try question.part(change, after: cursor)
      }
      try rebuild.writeFindings(to: target)
    }

    /// How many customers are asked about.
    func count(_ change: Change) throws -> Int64 {
      try change.transaction.first(
        """
        SELECT COUNT(*) FROM rebuild_customers AS one JOIN customers USING (customer)
        WHERE merged_into IS NULL AND (?1 IS NULL OR EXISTS (
          SELECT 1 FROM purchases WHERE purchases.customer = one.customer AND lineage = ?1))
        """, lineage
      ) { $0.int(0) } ?? 0
    }

    private func part(_ change: Change, after cursor: String) throws -> String? {
      let transaction = change.transaction
      let customers = try transaction.query(
        """
        SELECT customer, evaluated_at FROM rebuild_customers WHERE customer > ?
        ORDER BY customer LIMIT 200
        """, cursor
      ) { (id: $0.text(0), at: $0.int(1)) }
      for customer in customers {
        for finding in try compare(customer.id, at: customer.at, change)
        where type.map({ finding.type.contains($0) }) ?? true {
          try Rebuild.find(finding, change)
        }
      }
      return customers.last?.id
    }

    private func compare(_ customer: String, at time: Int64, _ change: Change) throws
      -> [WhatIfFinding]
    {
      let transaction = change.transaction
      guard try CustomerRow.exactly(transaction, customer).mergedInto == nil else { return [] }
      if let lineage {
        let has = try transaction.exists(
          "SELECT 1 FROM purchases WHERE customer = ? AND lineage = ?", customer, lineage)
        guard has else { return [] }
      }
      let result = Entitlements.compute(
        Holdings(
          customer: customer, lineages: try Purchases.held(transaction, customer),
          grants: try Grants.standing(transaction, customer)), rules, at: time)
      let told = try EntitlementRows.all(transaction, customer).filter(\.isActive)
      let rights = Difference.between(told, result.entitlements, ended: result.ended)
        .map { WhatIfFinding(customer, $0, at: time) }
      return try rights + WhatIfBalances(rules: rules).findings(of: customer, at: time, change)
    }
  }
}

/// Why nothing was computed.
enum WhatIfError: Error, CustomStringConvertible {
  case noTarget
  case noTime(String)

  var description: String {
    switch self {
    case .noTarget:
      "name the files for the differences and for how many were computed: what-if --to FILE "
        + "--computed FILE"
    case .noTime(let text): "--at is '\(text)'; give UTC milliseconds"
    }
  }
}
