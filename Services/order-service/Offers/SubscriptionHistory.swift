import Events
import Pipeline
import SQLite

/// What order-service keeps of subscriptions: which groups a customer has had, and how that stands.
///
/// As much as it takes to say which offers a customer may have, and no more.
enum SubscriptionHistory {
  static let table = """
    CREATE TABLE subscriptions_seen (
      customer TEXT NOT NULL,
      lineage TEXT NOT NULL,
      revision INTEGER NOT NULL,
      bundle_id TEXT NOT NULL,
      environment TEXT NOT NULL,
      group_id TEXT NOT NULL,
      had_introductory INTEGER NOT NULL,
      ends_at INTEGER NOT NULL,
      transaction_id TEXT NOT NULL,
      win_back TEXT NOT NULL,
      PRIMARY KEY (customer, lineage)
    ) WITHOUT ROWID
    """

  /// One lineage of a customer.
  struct Seen: Sendable, Equatable {
    let groupId: String
    let hadIntroductory: Bool
    /// When its access ends or ended, UTC milliseconds; 0 when all of it was taken back, or is another's now.
    let endsAt: Int64
    /// The newest transaction.
    let transactionId: String
    /// What Apple says that the customer may have, the best first.
    let winBack: [String]
  }

  /// Takes in a lineage's newest state; what is no subscription is left out.
  static func note(_ transaction: Transaction, _ state: LineageState) throws {
    guard state.holding == .held else {
      let lineage = state.lineage.description
      try transaction.run(
        """
        DELETE FROM subscriptions_seen
        WHERE customer = ? AND lineage = ? AND revision <= ? AND had_introductory = 0
        """, state.customer, lineage, state.revision)
      // An introductory offer that was had is used up, whoever has the purchase since.
      try transaction.run(
        """
        UPDATE subscriptions_seen SET revision = ?, ends_at = 0, win_back = ''
        WHERE customer = ? AND lineage = ? AND revision <= ?
        """, state.revision, state.customer, lineage, state.revision)
      return
    }
    guard let newest = state.transactions.last(where: { $0.subscriptionGroupIdentifier != nil }),
      let group = newest.subscriptionGroupIdentifier, state.isShared != true
    else { return }
    let bought = state.transactions.filter { $0.inAppOwnershipType != "FAMILY_SHARED" }
    // The ledger may not have read of an erasure yet; nothing of that customer comes back.
    guard !bought.isEmpty, try CustomerStore.erasure(transaction, state.customer) == nil else {
      return
    }
    let standing = bought.filter { $0.revocationDate == nil && $0.isUpgraded != true }
    let ends = standing.compactMap(\.expiresDate).max() ?? 0
    try transaction.run(
      """
      INSERT INTO subscriptions_seen (customer, lineage, revision, bundle_id, environment, group_id,
        had_introductory, ends_at, transaction_id, win_back)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (customer, lineage) DO UPDATE SET revision = excluded.revision,
        group_id = excluded.group_id, had_introductory = excluded.had_introductory,
        ends_at = excluded.ends_at, transaction_id = excluded.transaction_id,
        win_back = excluded.win_back
      WHERE excluded.revision > subscriptions_seen.revision
      """, state.customer, state.lineage.description, state.revision, state.lineage.bundleId,
      state.lineage.environment, group, bought.contains { $0.offerType == 1 },
      max(ends, state.renewal?.gracePeriodExpiresDate ?? 0), newest.transactionId,
      (state.renewal?.eligibleWinBackOfferIds ?? []).joined(separator: "\n"))
  }

  /// What a customer has had in an app and environment.
  static func read(
    _ reader: Reader, customer: String, bundleId: String, environment: String
  ) throws -> [Seen] {
    try reader.query(
      """
      SELECT group_id, had_introductory, ends_at, transaction_id, win_back FROM subscriptions_seen
      WHERE customer = ? AND bundle_id = ? AND environment = ? ORDER BY ends_at DESC, lineage
      """, customer, bundleId, environment
    ) { row in
      Seen(
        groupId: row.text(0), hadIntroductory: row.bool(1), endsAt: row.int(2),
        transactionId: row.text(3),
        winBack: row.text(4).split(separator: "\n").map(String.init))
    }
  }
}
