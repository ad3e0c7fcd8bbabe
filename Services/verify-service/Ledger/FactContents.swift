import AppStore
import Events
import Pipeline

/// What one recorded fact says about a lineage, normalized.
struct FactContents: Codable, Sendable, Equatable {
  var lineage: LineageID
  var transaction: LineageTransaction?
  var renewal: LineageRenewal?
  var status: Int64?
  var statusDate: Int64?
  var cause: LineageCause
  var proof: AppStoreFact.ProofReference?

  /// The token that the fact's transaction bears, in lower case.
  var token: String? { transaction?.appAccountToken }

  /// When Apple signed the fact.
  var signedDate: Int64 { transaction?.signedDate ?? renewal?.signedDate ?? 0 }

  /// Reads a fact that was proved before it was recorded; nil for facts of no lineage.
  ///
  /// - Throws: `Undecodable` when the signed text is not what its source promises.
  static func read(_ fact: AppStoreFact) throws(Undecodable) -> FactContents? {
    guard let name = fact.lineage else { return nil }
    guard let lineage = LineageID(name) else {
      throw Undecodable("malformed-lineage", "'\(name)' is not bundleId/environment/id")
    }
    do {
      switch fact.source {
      case .proof: return try read(proof: fact, lineage)
      case .notification: return try read(notification: fact, lineage)
      default: return nil
      }
    } catch {
      throw Undecodable("malformed-signed-text", error.description)
    }
  }

  private static func read(proof fact: AppStoreFact, _ lineage: LineageID) throws(PayloadFault)
    -> FactContents
  {
    let payload = try RecordedPayload.read(TransactionPayload.self, from: fact.signed)
    return FactContents(
      lineage: lineage,
      transaction: LineageTransaction(payload, hash: fact.hash),
      cause: LineageCause(
        kind: "proof", fact: fact.hash, transactionId: payload.transactionId), proof: fact.proof)
  }

  private static func read(notification fact: AppStoreFact, _ lineage: LineageID)
    throws(PayloadFault) -> FactContents?
  {
    let payload = try RecordedPayload.read(NotificationPayload.self, from: fact.signed)
    var contents = FactContents(
      lineage: lineage,
      cause: LineageCause(
        kind: "notification", notificationType: fact.notificationType, subtype: fact.subtype,
        fact: fact.hash))
    if let signed = payload.data?.signedTransactionInfo {
      let transaction = try RecordedPayload.read(TransactionPayload.self, from: signed)
      contents.transaction = LineageTransaction(transaction, hash: fact.hash(ofPart: signed))
      contents.cause.transactionId = transaction.transactionId
    }
    if let signed = payload.data?.signedRenewalInfo {
      let renewal = try RecordedPayload.read(RenewalInfoPayload.self, from: signed)
      contents.renewal = LineageRenewal(renewal, hash: fact.hash(ofPart: signed))
    }
    if let status = payload.data?.status, let date = payload.signedDate {
      contents.status = Int64(status.rawValue)
      contents.statusDate = date
    }
    // Nothing of it can be recorded: kept on the topic, without effect.
    guard contents.transaction != nil || contents.renewal != nil else { return nil }
    return contents
  }
}
