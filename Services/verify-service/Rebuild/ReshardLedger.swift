import Events
import Pipeline
import ServiceRuntime

/// `verify-service reshard`: where the rows of each table go.
enum ReshardLedger {
  private static let plan = ReshardPlan(
    service: "verify-service", inputs: [.proofs, .appstore, .customers, .entitlements],
    wholeInputs: [.customers],
    tables: [
      .keyed("lineages", by: "t.lineage"),
      .keyed("lineage_sharers", by: "t.lineage"),
      .keyed("provisional_tokens", by: "t.lineage"),
      .keyed("consumption_requests", by: "t.lineage"),
      .keyed("reconciliations", by: "t.lineage"),
      .numbered("waiting_facts", by: "t.lineage"),
      .keyed("pending_proofs", by: "CAST(t.proof AS TEXT) ->> '$.customer'"),
      // What is read in full, or asked for by an id that says nothing of a shard.
      .everywhere("tokens"), .everywhere("merged_customers"), .everywhere("erased_customers"),
      .everywhere("transfers"), .everywhere("proof_outcomes"),
      // Of several shards' dates the first one's holds until the next notification.
      .everywhere("newest_notifications"),
      // The jobs of an app go to its new shard, and those of lineages with them.
      .everywhere("known_notifications"), .everywhere("refund_sweeps"),
      .keyed("back_fills", by: "t.bundle_id"),
      .keyed("imports", by: "t.id"), .keyed("import_failures", by: "t.import_id"),
      .numbered(
        "import_items",
        by: "coalesce(t.import_id, t.bundle_id || '/' || t.environment || '/' || t.value)"),
      .numbered("apple_writes", by: "t.bundle_id"),
      .keyed("consumption_answers", by: "CAST(t.event AS TEXT) ->> '$.customer'"),
    ])

  static func run(_ settings: Settings, _ options: [String: String], _ log: Log) throws {
    try Reshard.run(plan, settings.pipeline, migrations: LineageStore.migrations, options, log)
  }
}
