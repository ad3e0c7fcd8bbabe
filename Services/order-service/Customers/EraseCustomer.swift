import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// Erases a customer: all that this service knows of it goes, and a hash stays, so that nothing
/// brings it back.
struct EraseCustomer: Sendable {
  struct Input: Decodable, Sendable { let reason: String }

  let store: Store
  let notices: Notices

  /// The erasure; asked again the same one.
  ///
  /// - Throws: `Problem` 409 for an id that was merged: then the customer who stayed is the one.
  func run(_ customer: String, _ input: Input, author: String) async throws
    -> CustomerStore.Erasure
  {
    try Problem.check(customer: customer)
    try Problem.check(reason: input.reason)
    let notices = notices
    return try await store.change { change in
      let rows = change.transaction
      if let erasure = try CustomerStore.erasure(rows, customer) { return erasure }
      if let merge = try CustomerStore.merge(rows, customer) { throw Problem.customerMerged(merge) }
      let aliases = try CustomerStore.merges(into: customer, rows).map(\.customer)
      // The customer first: aliases have nothing left but their names.
      for one in [customer] + aliases {
        let erased = CustomerErased(
          id: UUIDs.version5(namespace: EventID.namespace, name: "erasure\n\(one)"),
          customer: one, author: author, reason: input.reason, decidedAt: change.now)
        try change.publish(
          .customers, key: one, type: .customerErased, subject: one, revision: erased.id, erased)
        try rows.run(
          "INSERT INTO erased_customers (hash, erasure_id, erased_at) VALUES (?, ?, ?)",
          SHA256.hex(one), erased.id, change.now)
        try Self.forget(one, change, notices)
      }
      guard let erasure = try CustomerStore.erasure(rows, customer) else {
        throw Problem.customerErased
      }
      return erasure
    }
  }

  /// Removes all that is known of a customer.
  static func forget(_ customer: String, _ change: Change, _ notices: Notices) throws {
    let rows = change.transaction
    try rows.run("DELETE FROM subscriptions_seen WHERE customer = ?", customer)
    let own = "(SELECT id FROM orders WHERE customer = ?)"
    let proofs = "(SELECT id FROM proofs WHERE customer = ? OR order_id IN \(own))"
    try rows.run("DELETE FROM proof_parts WHERE proof_id IN \(proofs)", customer, customer)
    try rows.run("DELETE FROM proofs WHERE order_id IN \(own)", customer)
    try rows.run("DELETE FROM proofs WHERE customer = ?", customer)
    try rows.run("DELETE FROM order_moves WHERE order_id IN \(own)", customer)
    try rows.forEach("SELECT id FROM orders WHERE customer = ?", customer) { row in
      notices.tell(row.text(0), after: change)
    }
    try rows.run("DELETE FROM orders WHERE customer = ?", customer)
    try rows.run("DELETE FROM restores WHERE customer = ?", customer)
    try rows.run("DELETE FROM account_tokens WHERE customer = ?", customer)
    try rows.run("DELETE FROM merges WHERE customer = ?", customer)
    try rows.run(
      "DELETE FROM transfers WHERE CAST(body AS TEXT) ->> '$.customer' = ?", customer)
    try rows.run("DELETE FROM idempotency_keys WHERE principal = ?", "token:\(customer)")
    try change.forgetInAudit(customer)
    try change.forgetWaiting(of: customer)
  }
}
