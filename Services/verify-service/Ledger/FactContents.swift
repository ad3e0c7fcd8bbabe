import AppStore
import Events
import Pipeline

/// What one recorded fact says about a lineage, normalized.
struct FactContents: Codable, Sendable, Equatable {
  var lineage: LineageID
  /// One for signed text, all of the lineage for a receipt; oldest purchase first.
  var transactions: [LineageTransaction] = []
  var renewal: LineageRenewal?
  var status: Int64?
  var statusDate: Int64?
  /// SHA-256 of Xcode's certificate, for facts that Xcode signed.
  var xcodeCertificate: String?
  var notificationUUID: String?
  /// When it was received, UTC milliseconds.
  var receivedAt: Int64 = 0
  var cause: LineageCause
  var proof: AppStoreFact.ProofReference?

  /// The transaction that it is about: of several the newest purchase.
  var transaction: LineageTransaction? { transactions.last }

  /// The token that it bears, in lower case; renewal info may have one before a transaction does.
  var token: String? {
    transactions.last { $0.appAccountToken != nil }?.appAccountToken ?? renewal?.appAccountToken
  }

  /// When Apple signed the fact.
  var signedDate: Int64 { transaction?.signedDate ?? renewal?.signedDate ?? 0 }

  /// Where its way began; nil for what is no news, as it comes from before.
  var wayStart: WayStart? {
    guard cause.kind != FactSource.historyImport.rawValue else { return nil }
    let signed = cause.signedDate ?? signedDate
    return WayStart(
      source: cause.kind, signedAt: signed > 0 ? signed : nil,
      receivedAt: receivedAt > 0 ? receivedAt : nil)
  }

  /// Whether Apple wants to know how much of the purchase was used.
  var isConsumptionRequest: Bool { cause.notificationType == "CONSUMPTION_REQUEST" }

  /// Reads a fact that was proved before it was recorded; nil for facts of no lineage.
  ///
  /// - Throws: `Undecodable` when the signed text is not what its source promises.
  static func read(_ fact: AppStoreFact) throws(Undecodable) -> FactContents? {
    guard let name = fact.lineage else { return nil }
    guard let lineage = LineageID(name) else {
      throw Undecodable("malformed-lineage", "'\(name)' is not bundleId/environment/id")
    }
    var contents = FactContents(
      lineage: lineage,
      cause: LineageCause(
        kind: fact.source.rawValue, notificationType: fact.notificationType, subtype: fact.subtype,
        fact: fact.hash))
    contents.proof = fact.proof
    contents.notificationUUID = fact.notificationUUID
    contents.receivedAt = fact.receivedAt
    do {
      switch fact.source {
      case .notification, .backFill: try contents.read(notification: fact)
      case .receipt: try contents.read(receipt: fact)
      default: try contents.read(signed: fact)
      }
    } catch {
      throw Undecodable("malformed-signed-text", error.description)
    }
    contents.cause.transactionId = contents.transaction?.transactionId
    // Nothing of it can be recorded: kept on the topic, without effect.
    let isEmpty = contents.transactions.isEmpty && contents.renewal == nil
    return isEmpty ? nil : contents
  }

  /// A signed transaction, or renewal info, which has no transaction id.
  private mutating func read(signed fact: AppStoreFact) throws(PayloadFault) {
    let payload = try RecordedPayload.read(TransactionPayload.self, from: fact.signed)
    if payload.transactionId != nil {
      transactions = [LineageTransaction(payload, hash: fact.hash)].compactMap { $0 }
    } else {
      let payload = try RecordedPayload.read(RenewalInfoPayload.self, from: fact.signed)
      renewal = LineageRenewal(payload, hash: fact.hash)
    }
    readCertificate(of: fact.signed)
  }

  private mutating func read(notification fact: AppStoreFact) throws(PayloadFault) {
    let payload = try RecordedPayload.read(NotificationPayload.self, from: fact.signed)
    if let signed = payload.data?.signedTransactionInfo {
      let transaction = try RecordedPayload.read(TransactionPayload.self, from: signed)
      transactions = [LineageTransaction(transaction, hash: fact.hash(ofPart: signed))]
        .compactMap { $0 }
    }
    if let signed = payload.data?.signedRenewalInfo {
      let renewal = try RecordedPayload.read(RenewalInfoPayload.self, from: signed)
      self.renewal = LineageRenewal(renewal, hash: fact.hash(ofPart: signed))
    }
    if let status = payload.data?.status, let date = payload.signedDate {
      self.status = Int64(status.rawValue)
      statusDate = date
    }
    cause.consumptionRequestReason = payload.data?.consumptionRequestReason?.rawValue
    cause.signedDate = payload.signedDate
    readCertificate(of: fact.signed)
  }

  private mutating func read(receipt fact: AppStoreFact) throws(PayloadFault) {
    let recorded = try RecordedReceipt(json: Array(fact.signed.utf8))
    transactions = recorded.transactions.compactMap { LineageTransaction($0, hash: fact.hash) }
    for index in transactions.indices { transactions[index].evidence = recorded.evidence }
    renewal = recorded.renewal.map { LineageRenewal($0, hash: fact.hash) }
    renewal?.evidence = recorded.evidence
    xcodeCertificate = recorded.xcodeCertificate
  }

  private mutating func readCertificate(of signed: String) {
    guard lineage.environment == AppEnvironment.xcode.rawValue else { return }
    xcodeCertificate = RecordedPayload.certificateHash(of: signed)
  }
}
