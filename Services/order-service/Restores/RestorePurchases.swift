import Catalog
import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// What a customer restored at once: many proofs, each with an answer of its own.
struct Restore: Codable, Sendable, Equatable {
  /// Made of the customer and the proofs, so that the same restore asked again is the same.
  var id: String
  var customer: String
  var bundleId: String
  var createdAt: Int64
  var items: [Item]

  /// One text of the request, in its place.
  struct Item: Codable, Sendable, Equatable {
    /// Where the text stood, such as `signedTransactions[0]` or `receipt`.
    var place: String
    /// The proof that it became; nil for text that is no proof.
    var proofId: String?
    /// Why it is no proof.
    var fault: String?
  }
}

/// Takes many proofs at once, of no order, and waits until all have their outcomes.
struct RestorePurchases: Sendable {
  /// So many texts may stand in one request: signed transactions have 4 to 6 KB, and a body 512 KiB.
  static let largest = 80

  /// What the app posts.
  struct Input: Decodable, Sendable {
    let customer: String
    let bundleId: String?
    let signedTransactions: [String]?
    let transactionIds: [String]?
    let receipt: String?
  }

  /// A restore, and what came of each proof so far.
  struct Result: Sendable {
    let restore: Restore
    /// By proof id: one outcome, or one for each part; absent while undecided.
    let outcomes: [String: [ProofOutcome]]

    var isDecided: Bool {
      restore.items.allSatisfy { $0.proofId.map { outcomes[$0] != nil } ?? true }
    }
  }

  private struct Posted: Sendable {
    let place: String
    let proof: Swift.Result<PostedProof, Problem>
  }

  let store: Store
  let shop: Shop
  let notices: Notices
  private let submitted: Counter
  private let repeated: Counter

  init(store: Store, shop: Shop, notices: Notices, metrics: Metrics) {
    self.store = store
    self.shop = shop
    self.notices = notices
    submitted = metrics.counter("restores_total", "Restores that brought proofs to verify.")
    repeated = metrics.counter("restores_repeated_total", "Restores that were asked for before.")
  }

  /// - Throws: `Problem` for a customer or an app that cannot be, and for a request without text.
  func run(_ input: Input, wait: Duration) async throws -> Result {
    try Problem.check(customer: input.customer)
    let app = try shop.app(input.bundleId)
    let posted = try Self.posted(input)
    let (now, shard) = (store.clock.now(), store.shard)
    // A restore at every launch brings nothing new: that is answered without a write.
    let known = try await store.readers.read { reader -> Restore? in
      let plan = try Self.plan(reader, posted, input.customer, app.bundleId, shard, at: now)
      guard plan.new.isEmpty else { return nil }
      return try RestoreStore.restore(reader, plan.restore.id)
    }
    let restore: Restore
    if let known {
      restore = known
      repeated.add()
    } else {
      restore = try await store.change { change in
        let plan = try Self.plan(
          change.transaction, posted, input.customer, app.bundleId, shard, at: change.now)
        for proof in plan.new { try ProofStore.submit(change, proof) }
        return try RestoreStore.insert(change.transaction, plan.restore)
      }
      submitted.add()
    }
    return try await result(restore, wait: wait)
  }

  /// A restore that was asked for before; waits like the first answer.
  func result(_ restore: Restore, wait: Duration) async throws -> Result {
    let key = Notices.restores(of: restore.customer)
    let deadline = Deadline.after(wait)
    var now = try await current(restore)
    while !now.isDecided, !deadline.hasPassed {
      let ticket = notices.requests.enter(key, group: restore.customer)
      defer { notices.requests.leave(ticket) }
      now = try await current(restore)
      guard !now.isDecided else { break }
      if await notices.requests.wait(ticket, atMost: deadline.remaining) != .notified {
        return try await current(restore)
      }
    }
    return now
  }

  private func current(_ restore: Restore) async throws -> Result {
    try await store.readers.read { reader in
      var outcomes: [String: [ProofOutcome]] = [:]
      for id in restore.items.compactMap(\.proofId) {
        guard let outcome = try ProofStore.proof(reader, id)?.outcome else { continue }
        let parts = outcome.part == nil ? [] : try ProofStore.parts(reader, id)
        outcomes[id] = parts.isEmpty ? [outcome] : parts
      }
      return Result(restore: restore, outcomes: outcomes)
    }
  }

  private static func posted(_ input: Input) throws(Problem) -> [Posted] {
    var texts: [(place: String, field: PostedProof.Field, text: String)] = []
    for (index, text) in (input.signedTransactions ?? []).enumerated() {
      texts.append(("signedTransactions[\(index)]", .signedTransaction, text))
    }
    for (index, text) in (input.transactionIds ?? []).enumerated() {
      texts.append(("transactionIds[\(index)]", .transactionId, text))
    }
    if let receipt = input.receipt { texts.append(("receipt", .receipt, receipt)) }
    guard !texts.isEmpty else {
      throw Problem(
        status: 422, type: "nothing-to-restore", title: "Nothing to restore",
        detail: "Give 1 to \(largest) proofs as signedTransactions, transactionIds or receipt.")
    }
    guard texts.count <= largest else {
      throw Problem(
        status: 422, type: "restore-too-large", title: "Too many proofs at once",
        detail: "These are \(texts.count) proofs; post them \(largest) at a time.")
    }
    return texts.map { place, field, text in
      Posted(
        place: place,
        proof: Swift.Result { () throws(Problem) in try PostedProof(text, in: field) })
    }
  }

  private static func plan(
    _ rows: some StoreRows, _ posted: [Posted], _ customer: String, _ bundleId: String,
    _ shard: Shard, at now: Int64
  ) throws -> (restore: Restore, new: [Proof]) {
    let customer = try CustomerStore.present(rows, customer)
    let place = "\(Notices.restores(of: customer))\n\(bundleId)"
    var items: [Restore.Item] = []
    var new: [String: Proof] = [:]
    for one in posted {
      switch one.proof {
      case .failure(let problem):
        items.append(Restore.Item(place: one.place, proofId: nil, fault: problem.detail))
      case .success(let proof):
        let (id, row) = try ProofID.current(rows, place, proof, at: now)
        if row == nil {
          new[id] = Proof(
            id: id, orderId: nil, customer: customer, bundleId: bundleId, kind: proof.kind,
            content: proof.content, submittedAt: now)
        }
        items.append(Restore.Item(place: one.place, proofId: id, fault: nil))
      }
    }
    let name = items.map { "\($0.place) \($0.proofId ?? $0.fault ?? "")" }.joined(separator: "\n")
    let restore = Restore(
      id: IDPartition.stamp(
        UUIDs.version5(namespace: EventID.namespace, name: "restore\n\(place)\n\(name)"),
        shard.partition(of: customer), partitions: shard.partitions),
      customer: customer, bundleId: bundleId, createdAt: now, items: items)
    return (restore, new.values.sorted { $0.id < $1.id })
  }
}

/// The restores that were asked for.
enum RestoreStore {
  static func restore(_ rows: some StoreRows, _ id: String) throws -> Restore? {
    try rows.first("SELECT body FROM restores WHERE id = ?", id) { row in
      try EventJSON.decode(Restore.self, from: row.blob(0))
    }
  }

  /// Stores a restore, or finds the same one that was asked for before.
  static func insert(_ transaction: Transaction, _ restore: Restore) throws -> Restore {
    if let known = try Self.restore(transaction, restore.id) { return known }
    try transaction.run(
      "INSERT INTO restores (id, customer, body) VALUES (?, ?, ?)", restore.id, restore.customer,
      try EventJSON.encode(restore))
    return restore
  }
}
