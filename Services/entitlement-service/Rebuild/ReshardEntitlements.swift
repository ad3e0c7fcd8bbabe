import Events
import Pipeline
import ServiceRuntime

/// `entitlement-service reshard`: where the rows of each table go.
enum ReshardEntitlements {
  private static let plan = ReshardPlan(
    service: "entitlement-service", inputs: [.transactions, .customers],
    tables: [
      // Who was merged keeps row and story, as its own events say that it was erased; and the shard of
      // the one it became has a copy, to answer who asks by the old id.
      .keyed("customers", by: "t.customer", copiedBy: "t.merged_into"),
      .keyed(
        "timeline", by: "t.customer",
        copiedBy: "SELECT merged_into FROM customers WHERE customer = t.customer"),
      .keyed("purchases", by: "t.customer"), .keyed("grants", by: "t.customer"),
      .keyed("entitlements", by: "t.customer"), .keyed("balances", by: "t.customer"),
      .keyed("balance_entries", by: "t.customer"), .keyed("balance_lots", by: "t.customer"),
      .keyed("spends", by: "t.customer"), .everywhere("credited_before"),
      .keyed("refund_settings", by: "t.customer"), .keyed("refund_requests", by: "t.customer"),
      // A hash says nothing of a shard.
      .everywhere("erased_customers"), .everywhere("sweeps"), .everywhere("webhook_endpoints"),
      .numbered("webhook_events", by: "t.customer"),
      .numbered("webhook_deliveries", by: "t.customer", column: 1),
    ],
    parted: [
      .customers("SELECT customer, merged_into FROM customers WHERE merged_into IS NOT NULL")
    ])

  static func run(_ settings: Settings, _ options: [String: String], _ log: Log) throws {
    try Reshard.run(plan, settings.pipeline, migrations: EntitlementStore.migrations, options, log)
  }
}
