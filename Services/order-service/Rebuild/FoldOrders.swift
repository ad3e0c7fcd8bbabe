import Cryptography
import Events
import Kafka
import Pipeline
import SQLite

/// Folds what order-service has published, each record into the rows that stood behind it.
enum FoldOrders {
  /// An order's move, from `iap.orders`: the newest revision is the order, all are its moves.
  static func order(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let order = try record.decode(Order.self, type: .orderChanged) else { return nil }
    let body = record.value ?? []
    return { change in
      let transaction = change.transaction
      let known =
        try transaction.first(
          "SELECT max(revision) FROM order_moves WHERE order_id = ?", order.id
        ) { $0.optionalInt(0) } ?? nil
      let isKnown =
        try transaction.exists(
          "SELECT 1 FROM order_moves WHERE order_id = ? AND revision = ?", order.id, order.revision)
      guard !isKnown else { return }
      if order.revision > known ?? 0 { try OrderStore.put(transaction, order, body) }
      try OrderMoves.insert(transaction, order)
    }
  }

  /// What was decided about customers, from `iap.customers`.
  static func customer(_ record: ReceivedRecord) throws -> RecordWork? {
    if let issued = try record.decode(TokenIssued.self, type: .tokenIssued) {
      guard issued.orderId == nil else { return nil }
      return { change in
        try change.transaction.run(
          """
          INSERT INTO account_tokens (token, customer, bundle_id, issued_at) VALUES (?, ?, ?, ?)
          ON CONFLICT DO NOTHING
          """, issued.token, issued.customer, issued.bundleId, issued.issuedAt)
      }
    }
    if let merge = try record.decode(CustomerMerged.self, type: .customerMerged) {
      return { change in try CustomerStore.save(change.transaction, merge) }
    }
    if let transfer = try record.decode(LineageTransferred.self, type: .lineageTransferred) {
      let body = record.value ?? []
      return { change in
        try change.transaction.run(
          "INSERT INTO transfers (id, body) VALUES (?, ?) ON CONFLICT DO NOTHING", transfer.id, body
        )
      }
    }
    return try erasure(record)
  }

  /// That a customer was erased, from `iap.customers`.
  private static func erasure(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let erased = try record.decode(CustomerErased.self, type: .customerErased) else {
      return nil
    }
    return { change in
      try change.transaction.run(
        """
        INSERT INTO erased_customers (hash, erasure_id, erased_at) VALUES (?, ?, ?)
        ON CONFLICT DO NOTHING
        """, SHA256.hex(erased.customer), erased.id, erased.decidedAt)
      try change.transaction.run(
        "INSERT INTO rebuild_erased (customer) VALUES (?) ON CONFLICT DO NOTHING", erased.customer)
    }
  }

  /// A merge of another partition into a customer of this shard, whom a re-shard has parted from it, and
  /// the erasure that ended both.
  static func alias(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let merge = try record.decode(CustomerMerged.self, type: .customerMerged) else {
      return try erasure(record)
    }
    return { change in try CustomerStore.save(change.transaction, merge) }
  }

  /// A proof as it was posted, from `iap.proofs`.
  static func proof(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let proof = try record.decode(Proof.self, type: .proofSubmitted) else { return nil }
    return { change in
      try insert(
        change.transaction, id: proof.id, orderId: proof.orderId, customer: proof.customer,
        at: proof.submittedAt)
    }
  }

  /// What became of a proof, and which subscriptions a customer has had, from `iap.transactions`.
  ///
  /// As far as the service had read. No order is completed by it: orders tell that themselves.
  static func outcome(_ record: ReceivedRecord) throws -> RecordWork? {
    if let state = try record.decode(LineageState.self, type: .lineageChanged) {
      return { change in try SubscriptionHistory.note(change.transaction, state) }
    }
    guard let outcome = try record.decode(ProofOutcome.self, type: .proofDecided) else {
      return nil
    }
    return { change in
      // Proofs stay on their topic for 30 days; of older ones the outcome says whose they were.
      try insert(
        change.transaction, id: outcome.proofId, orderId: outcome.orderId,
        customer: outcome.customer, at: outcome.decidedAt)
      _ = try ProofStore.take(outcome, change)
    }
  }

  private static func insert(
    _ transaction: Transaction, id: String, orderId: String?, customer: String, at time: Int64
  ) throws {
    try transaction.run(
      """
      INSERT INTO proofs (id, order_id, customer, submitted_at) VALUES (?, ?, ?, ?)
      ON CONFLICT DO NOTHING
      """, id, orderId, orderId == nil ? customer : nil, time)
  }

  /// Takes out what lies on another shard since a re-shard has parted a merge, and notes where.
  static func part(_ change: Change) throws {
    let (transaction, shard) = (change.transaction, change.shard)
    let merges = try transaction.query("SELECT customer, merged_into FROM merges") {
      (customer: $0.text(0), into: $0.text(1))
    }
    let notices = Notices()
    for merge in merges where !shard.owns(key: merge.into) {
      let partition = shard.partition(of: merge.into)
      let orders = try transaction.query("SELECT id FROM orders WHERE customer = ?", merge.customer)
      {
        $0.text(0)
      }
      for what in orders + [Elsewhere.name(ofCustomer: merge.customer)] {
        try Elsewhere.insert(transaction, what, partition: partition)
      }
      try EraseCustomer.forget(merge.customer, change, notices)
      // The shard that has them knows whether they were erased since.
      try transaction.run(
        "DELETE FROM erased_customers WHERE hash = ?", SHA256.hex(merge.customer))
    }
  }

  /// Gives all to those whom merges led to, notes whose orders were still to be moved, and forgets
  /// who was erased.
  static func finish(_ change: Change) throws {
    let transaction = change.transaction
    for table in ["account_tokens", "proofs", "restores"] {
      try transaction.run(
        """
        UPDATE \(table) SET customer = merges.merged_into FROM merges
        WHERE merges.customer = \(table).customer
        """)
    }
    try transaction.run(
      """
      UPDATE merges SET is_moving = 1
      WHERE EXISTS (SELECT 1 FROM orders WHERE orders.customer = merges.customer)
      """)
    try noteMatches(transaction)
    let erased = try transaction.query("SELECT customer FROM rebuild_erased") { $0.text(0) }
    let notices = Notices()
    for customer in erased { try EraseCustomer.forget(customer, change, notices) }
    try transaction.run("DROP TABLE rebuild_erased")
  }

  /// How well the purchases of mismatched orders fit: another's if its proof bore the token of another
  /// order, or another order has it as its own.
  private static func noteMatches(_ transaction: Transaction) throws {
    try transaction.run(
      """
      UPDATE orders SET mismatch = CASE WHEN EXISTS (
          SELECT 1 FROM orders AS owner WHERE owner.transaction_id = orders.transaction_id
            AND owner.id <> orders.id AND NOT CAST(owner.body AS TEXT) ->> '$.mismatched'
        ) OR EXISTS (
          SELECT 1 FROM proofs JOIN orders AS owner
            ON owner.id = CAST(proofs.outcome AS TEXT) ->> '$.appAccountToken'
          WHERE proofs.order_id = orders.id AND owner.id <> orders.id
            AND CAST(proofs.outcome AS TEXT) ->> '$.transactionId' = orders.transaction_id
        ) THEN ? ELSE ? END
      WHERE state = 'completed' AND CAST(body AS TEXT) ->> '$.mismatched'
      """, OrderMatch.anothers.rawValue, OrderMatch.different.rawValue)
  }
}
