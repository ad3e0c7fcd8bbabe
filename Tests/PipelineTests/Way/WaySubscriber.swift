import Events
import SQLite
import TestSupport

// The example of a subscriber, as another team runs it.
extension Way {
  static let subscriber = TestData.packageRoot + "/docs/examples/active_customers.py"

  /// Lets the example read up to where the topics end now, into its table.
  ///
  /// - Throws: What it said, when it did not end well.
  func subscribe(_ file: String) async throws {
    let ending = try await Script.run(
      Script.python,
      [Self.subscriber, "--broker", broker.bootstrapServers, "--table", file, "--until-end"])
    guard ending.code == 0 else { throw NotInTime(description: ending.output) }
  }

  /// What the example's table holds.
  func tableOfSubscriber(_ file: String) async throws -> [String] {
    try await offPool {
      let connection = try Connection(path: file, mode: .readOnly)
      return try connection.query(
        "SELECT customer, environment, entitlement, product, expires_at FROM active",
        map: { row in
          let end = row.optionalInt(4).map { "\($0)" } ?? "-"
          return "\(row.text(0)) \(row.text(1)) \(row.text(2)) \(row.optionalText(3) ?? "-") \(end)"
        }
      ).sorted()
    }
  }
}

extension StoreContents {
  /// What the example's table must hold.
  var rowsOfSubscribers: [String] {
    entitlements.flatMap { customer, rights in
      rights.map { right in
        "\(customer) \(right.environment) \(right.name) \(right.productId ?? "-") "
          + (right.expiresAt.map { "\($0)" } ?? "-")
      }
    }.sorted()
  }
}
