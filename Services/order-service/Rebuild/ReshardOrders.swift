import Events
import Pipeline
import ServiceRuntime

/// `order-service reshard`: where the rows of each table go.
enum ReshardOrders {
  private static let plan = ReshardPlan(
    service: "order-service", inputs: [.transactions],
    tables: [
      .keyed("orders", by: "t.customer"),
      .keyed("order_moves", by: "SELECT customer FROM orders WHERE id = t.order_id"),
      .keyed("proofs", by: "coalesce(t.customer, \(customer(ofOrder: "t.order_id")))"),
      .keyed(
        "proof_parts",
        by: """
          SELECT coalesce(customer, \(customer(ofOrder: "proofs.order_id"))) FROM proofs
          WHERE id = t.proof_id
          """),
      .keyed("restores", by: "t.customer"),
      // What a key made is found by whoever may ask for it again: on its shard.
      .everywhere("idempotency_keys"),
      .keyed("account_tokens", by: "t.customer"),
      .keyed("merges", by: "t.merged_into"),
      .keyed("transfers", by: "CAST(t.body AS TEXT) ->> '$.customer'"),
      .everywhere("erased_customers"),
      // Of one who was merged they go along, so that an erasure reaches them.
      .keyed(
        "subscriptions_seen",
        by: """
          coalesce((SELECT merged_into FROM merges WHERE customer = t.customer), t.customer)
          """),
    ],
    parted: [
      .ids("SELECT id, customer FROM orders"), .ids("SELECT id, customer FROM restores"),
      .customers("SELECT customer, merged_into FROM merges"),
    ])

  private static func customer(ofOrder id: String) -> String {
    "(SELECT customer FROM orders WHERE id = \(id))"
  }

  static func run(_ settings: Settings, _ options: [String: String], _ log: Log) throws {
    try Reshard.run(plan, settings.pipeline, migrations: OrderTables.migrations, options, log)
  }
}
