import Events

/// All that the ledger knows of one lineage.
///
/// Pure values and rules.
struct Lineage: Sendable, Equatable {
  let id: LineageID
  /// Nil before the first link.
  var owner: String?
  var revision: Int64 = 0
  var transactions: [LineageTransaction] = []
  var renewal: LineageRenewal?
  var status: Int64?
  var statusDate: Int64?
  /// When Apple signed the transaction by which the lineage last moved to another customer.
  var movedSignedDate: Int64?

  init(_ id: LineageID) { self.id = id }

  /// What a fact changed.
  struct Merge: Equatable {
    var isNewTransaction = false
    var hasChanged = false
  }

  /// Takes in what a fact says, unless something newer is known.
  ///
  /// Per transaction id the newest `signedDate` wins, and apart from it per renewal info and status;
  /// ties by hash. An older transaction that is not known yet is
  /// recorded in its place.
  mutating func merge(_ fact: FactContents) -> Merge {
    var merge = Merge()
    if let transaction = fact.transaction {
      if let index = transactions.firstIndex(where: {
        $0.transactionId == transaction.transactionId
      }) {
        if transaction.isNewer(than: transactions[index]) {
          transactions[index] = transaction
          merge.hasChanged = true
        }
      } else {
        transactions.append(transaction)
        merge.isNewTransaction = true
        merge.hasChanged = true
      }
      // Oldest purchase first; equal dates by id, so that the order never depends on arrival.
      transactions.sort {
        ($0.purchaseDate, $0.transactionId) < ($1.purchaseDate, $1.transactionId)
      }
    }
    if let renewal = fact.renewal, self.renewal.map(renewal.isNewer) ?? true {
      self.renewal = renewal
      merge.hasChanged = true
    }
    if let status = fact.status, let date = fact.statusDate {
      if (date, status) > (statusDate ?? Int64.min, self.status ?? Int64.min) {
        merge.hasChanged = merge.hasChanged || status != self.status
        self.status = status
        statusDate = date
      }
    }
    return merge
  }

  /// The newest copy of a transaction.
  func transaction(_ id: String?) -> LineageTransaction? {
    transactions.first { $0.transactionId == id }
  }

  /// The newest token that a transaction of the lineage bears.
  var token: String? { transactions.last { $0.appAccountToken != nil }?.appAccountToken }

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
    LineageState(
      lineage: id, revision: revision, customer: customer, holding: holding,
      transactions: transactions, renewal: renewal, status: status, statusDate: statusDate,
      cause: cause, decidedAt: now)
  }
}

extension LineageTransaction {
  func isNewer(than other: LineageTransaction) -> Bool {
    (signedDate, hash) > (other.signedDate, other.hash)
  }
}

extension LineageRenewal {
  func isNewer(than other: LineageRenewal) -> Bool {
    (signedDate, hash) > (other.signedDate, other.hash)
  }
}
