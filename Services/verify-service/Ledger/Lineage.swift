import Events

/// All that the ledger knows of one lineage.
///
/// Pure values and rules.
struct Lineage: Sendable, Equatable {
  let id: LineageID
  /// Nil before the first link.
  var owner: String?
  /// Who else has it, by the policy `share`; sorted by bytes.
  var sharers: [String] = []
  var revision: Int64 = 0
  /// Every transaction that is known, oldest purchase first.
  private(set) var transactions: [LineageTransaction] = []
  private(set) var renewal: LineageRenewal?
  private(set) var status: Int64?
  private(set) var statusDate: Int64?
  private(set) var xcodeCertificate: String?
  /// Copies of transactions, by id, of which one lies behind the other.
  private(set) var covered: [String: Copies<LineageTransaction>] = [:]
  private(set) var coveredRenewal: Copies<LineageRenewal>?
  /// When an owner was erased last.
  var erasedAt: Int64?
  /// When Apple signed the transaction by which the lineage last moved to another customer.
  var movedSignedDate: Int64?

  init(_ id: LineageID) { self.id = id }

  /// What was stored.
  init(
    _ state: LineageState, covered: [Copies<LineageTransaction>],
    coveredRenewal: Copies<LineageRenewal>?
  ) {
    id = state.lineage
    owner = state.customer
    revision = state.revision
    transactions = state.transactions
    renewal = state.renewal
    status = state.status
    statusDate = state.statusDate
    xcodeCertificate = state.xcodeCertificate
    erasedAt = state.erasedAt
    self.coveredRenewal = coveredRenewal
    for copies in covered {
      if let id = copies.signed?.transactionId { self.covered[id] = copies }
    }
  }

  /// What a fact changed.
  struct Merge: Equatable {
    /// Whether a transaction was not known before.
    var isNewTransaction = false
    /// Whether the newest purchase of the lineage was not known before, and is no renewal.
    var isNewPurchase = false
    var hasChanged = false
  }

  /// Takes in what a fact says, unless something newer is known.
  ///
  /// Per transaction id the newest `signedDate` wins, and apart from it per renewal info and status;
  /// ties by hash. An older transaction that is not known yet is recorded in its place.
  mutating func merge(_ fact: FactContents) -> Merge {
    var merge = Merge()
    for transaction in fact.transactions { take(transaction, &merge) }
    if let renewal = fact.renewal {
      var copies = coveredRenewal ?? self.renewal.map { Copies($0) }
      if copies?.take(renewal) ?? true {
        let taken = copies ?? Copies(renewal)
        self.renewal = taken.effective
        coveredRenewal = taken.isBoth ? taken : nil
        merge.hasChanged = true
      }
    }
    if let status = fact.status, let date = fact.statusDate {
      if (date, status) > (statusDate ?? Int64.min, self.status ?? Int64.min) {
        // Also the same status said later: it must stand against what was said between.
        merge.hasChanged = true
        self.status = status
        statusDate = date
      }
    }
    if let certificate = fact.xcodeCertificate, certificate > xcodeCertificate ?? "" {
      merge.hasChanged = true
      xcodeCertificate = certificate
    }
    return merge
  }

  private mutating func take(_ transaction: LineageTransaction, _ merge: inout Merge) {
    let id = transaction.transactionId
    guard let index = transactions.firstIndex(where: { $0.transactionId == id }) else {
      let isNewest = transactions.last.map(transaction.isPurchasedAfter) ?? true
      transactions.append(transaction)
      // Equal dates by id, so that the order never depends on arrival.
      transactions.sort { $1.isPurchasedAfter($0) }
      merge.isNewTransaction = true
      merge.isNewPurchase = isNewest && transaction.transactionReason == "PURCHASE"
      merge.hasChanged = true
      return
    }
    var copies = covered[id] ?? Copies(transactions[index])
    guard copies.take(transaction), let effective = copies.effective else { return }
    transactions[index] = effective
    covered[id] = copies.isBoth ? copies : nil
    merge.hasChanged = true
  }

  /// The newest copy of a transaction.
  func transaction(_ id: String?) -> LineageTransaction? {
    transactions.first { $0.transactionId == id }
  }

  /// Notes that a customer was erased, if it is the owner.
  mutating func noteErasure(of customer: String, at time: Int64) {
    guard let owner, Customer.isSame(owner, customer) else { return }
    erasedAt = max(time, erasedAt ?? .min)
  }

  /// Every token that the lineage bears.
  var tokens: Set<String> {
    Set(transactions.compactMap(\.appAccountToken) + [renewal?.appAccountToken].compactMap { $0 })
  }

  /// Whether the kind of product may move by a proof: non-consumables and auto-renewables.
  var isTransferable: Bool {
    transactions.last.map {
      $0.type == "Non-Consumable" || $0.type == "Auto-Renewable Subscription"
    } ?? false
  }

  /// Whether the lineage gives nothing at a time.
  func isInactive(at now: Int64) -> Bool {
    guard let last = transactions.last else { return true }
    if last.revocationDate != nil { return true }
    guard let expires = last.expiresDate else { return false }
    return max(expires, renewal?.gracePeriodExpiresDate ?? expires) <= now
  }

  /// The state as it is published to a customer.
  func state(for customer: String, _ holding: Holding, _ cause: LineageCause, at now: Int64)
    -> LineageState
  {
    var state = LineageState(
      lineage: id, revision: revision, customer: customer, holding: holding,
      transactions: transactions, renewal: renewal, status: status, statusDate: statusDate,
      cause: cause, decidedAt: now)
    state.xcodeCertificate = xcodeCertificate
    state.erasedAt = erasedAt
    return state
  }
}

extension LineageTransaction {
  /// The order of a lineage's transactions.
  func isPurchasedAfter(_ other: LineageTransaction) -> Bool {
    (purchaseDate, transactionId) > (other.purchaseDate, other.transactionId)
  }
}
