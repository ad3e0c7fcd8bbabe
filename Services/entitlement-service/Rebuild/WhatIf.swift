import Events
import Glibc
import Pipeline
import SQLite
import ServiceRuntime

/// `entitlement-service what-if`: who would own what by the rules of this configuration and build.
///
/// A rebuild beside everything else, whose store is thrown away.
enum WhatIf {
  /// One right that would be another.
  struct Finding: Encodable, Sendable {
    let customer: String
    let environment: String
    let right: String
    /// For which time it was computed, UTC milliseconds.
    let at: Int64
    /// As it was told last; absent if it was not active.
    let told: Entitlement?
    /// As these rules give it; absent if they do not.
    let derived: Entitlement?
  }

  static let command = Program.Command<Settings>(
    name: "what-if",
    help: """
      what-if --to FILE   computes all customers by this configuration, beside the service, and writes
        who would own something else; for 'purser replay what-if'
      """,
    options: ["--to"], run: run)

  static func run(_ settings: Settings, _ options: [String: String], _ log: Log) throws {
    guard let target = options["--to"] else { throw WhatIfError.noTarget }
    let rebuild = try RebuildEntitlements.begin(settings, backup: nil, log)
    defer { rebuild.discard() }
    try RebuildEntitlements.fold(rebuild, settings)
    let rules = settings.rules
    let file = unsafe open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw WhatIfError.cannotWrite(target, code: errno) }
    defer { close(file) }
    var cursor: String? = ""
    var count = 0
    while let place = cursor {
      let (next, findings) = try rebuild.change { change in
        try part(change, rules, after: place)
      }
      for finding in findings {
        let line = try EventJSON.encode(finding) + [UInt8(ascii: "\n")]
        guard unsafe write(file, line, line.count) == line.count else {
          throw WhatIfError.cannotWrite(target, code: errno)
        }
      }
      count += findings.count
      cursor = next
    }
    log.info("computed", ["differences": LogValue(count)])
  }

  private static func part(_ change: Change, _ rules: Rules, after cursor: String) throws -> (
    next: String?, findings: [Finding]
  ) {
    let transaction = change.transaction
    let customers = try transaction.query(
      """
      SELECT customer, evaluated_at FROM rebuild_customers WHERE customer > ?
      ORDER BY customer LIMIT 200
      """, cursor
    ) { (id: $0.text(0), at: $0.int(1)) }
    let findings = try customers.flatMap { customer -> [Finding] in
      guard try CustomerRow.exactly(transaction, customer.id).mergedInto == nil else { return [] }
      let result = Entitlements.compute(
        Holdings(
          customer: customer.id, lineages: try Purchases.held(transaction, customer.id),
          grants: try Grants.standing(transaction, customer.id)), rules, at: customer.at)
      let told = try EntitlementRows.all(transaction, customer.id).filter(\.isActive)
      return Difference.between(told, result.entitlements, ended: result.ended).map { difference in
        Finding(
          customer: customer.id, environment: difference.after.environment,
          right: difference.after.name, at: customer.at, told: difference.before,
          derived: difference.after.isActive ? difference.after : nil)
      }
    }
    return (customers.last?.id, findings)
  }
}

/// Why nothing was computed.
enum WhatIfError: Error, CustomStringConvertible {
  case noTarget
  case cannotWrite(String, code: Int32)

  var description: String {
    switch self {
    case .noTarget: "name the file for the differences: what-if --to FILE"
    case .cannotWrite(let path, let code): "\(path) cannot be written (error \(code))"
    }
  }
}
