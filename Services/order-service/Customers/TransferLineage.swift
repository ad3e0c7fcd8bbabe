import Catalog
import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// Support moves a lineage to a customer, whatever the transfer policy says.
struct TransferLineage: Sendable {
  struct Input: Decodable, Sendable {
    let lineage: String
    let reason: String
  }

  let store: Store
  let shop: Shop

  /// The transfer; asked again with the same key the same one.
  ///
  /// Whether the lineage is there is the ledger's to know: one that is not moves nothing.
  func run(
    _ customer: String, _ input: Input, author: String, principal: String,
    idempotencyKey: String?
  ) async throws -> LineageTransferred {
    try Problem.check(customer: customer)
    try Problem.check(reason: input.reason)
    guard let lineage = LineageID(input.lineage), let app = shop.apps.app(lineage.bundleId),
      app.environments[lineage.environment] != nil
    else { throw Problem.unknownLineage(input.lineage) }
    let hash = SHA256.hex("transfer\n\(customer)\n\(input.lineage)\n\(input.reason)")
    return try await store.change { change in
      let rows = change.transaction
      if let key = idempotencyKey,
        let use = try IdempotencyKeys.use(rows, principal: principal, key: key)
      {
        guard use.requestHash == hash, let transfer = try Self.transfer(rows, use.madeId) else {
          throw Problem.idempotencyKeyReused
        }
        return transfer
      }
      let transfer = LineageTransferred(
        id: UUIDs.version4(), lineage: lineage.description,
        customer: try CustomerStore.present(rows, customer), author: author,
        reason: input.reason, decidedAt: change.now)
      try rows.run(
        "INSERT INTO transfers (id, body) VALUES (?, ?)", transfer.id,
        try EventJSON.encode(transfer))
      if let key = idempotencyKey {
        try IdempotencyKeys.insert(
          rows, principal: principal, key: key,
          IdempotencyKeys.Use(requestHash: hash, madeId: transfer.id), at: change.now)
      }
      try change.publish(
        .customers, key: transfer.customer, type: .lineageTransferred,
        subject: transfer.lineage, revision: transfer.id, transfer)
      return transfer
    }
  }

  /// The transfers to a customer; support makes few.
  static func all(_ rows: some StoreRows, _ customer: String, limit: Int64) throws
    -> [LineageTransferred]
  {
    try rows.query(
      """
      SELECT body FROM transfers WHERE CAST(body AS TEXT) ->> '$.customer' = ? ORDER BY id LIMIT ?
      """, customer, limit
    ) { row in try EventJSON.decode(LineageTransferred.self, from: row.blob(0)) }
  }

  private static func transfer(_ rows: some StoreRows, _ id: String) throws
    -> LineageTransferred?
  {
    try rows.first("SELECT body FROM transfers WHERE id = ?", id) { row in
      try EventJSON.decode(LineageTransferred.self, from: row.blob(0))
    }
  }
}
