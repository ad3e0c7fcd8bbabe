import AppStore
import Cryptography
import Events
import Kafka
import Pipeline
import ServiceRuntime

/// Turns what was proved into records of `iap.appstore`.
enum FactWriter {
  static func fact(of verified: VerifiedNotification, _ signed: String, receivedAt: Int64)
    -> AppStoreFact
  {
    let payload = verified.notification.payload
    let environment = verified.notification.environment.rawValue
    let bundleId = verified.notification.app?.bundleId ?? ""
    let original =
      verified.transaction?.payload.originalTransactionId
      ?? verified.renewalInfo?.payload.originalTransactionId
    return AppStoreFact(
      source: .notification, signed: signed, hash: Hex.encode(verified.notification.textHash),
      bundleId: bundleId, environment: environment,
      lineage: original.map {
        LineageID(bundleId: bundleId, environment: environment, originalTransactionId: $0)
          .description
      },
      notificationUUID: payload.notificationUUID,
      notificationType: payload.notificationType?.rawValue, subtype: payload.subtype?.rawValue,
      receivedAt: receivedAt)
  }

  static func unknownForm(_ signed: String, receivedAt: Int64) -> AppStoreFact {
    AppStoreFact(
      source: .notification, signed: signed, hash: SHA256.hex(signed), bundleId: "",
      environment: "", lineage: nil, receivedAt: receivedAt)
  }

  /// The key: the lineage, so that its facts stay in order; else what tells the fact apart.
  static func key(of fact: AppStoreFact) -> String {
    fact.lineage ?? fact.notificationUUID ?? fact.hash
  }

  /// The hash of a receipt that was not proved here: of its bytes, however they were encoded.
  static func hash(of proof: Proof) -> String {
    Base64.decode(proof.content).map { SHA256.hex($0) } ?? SHA256.hex(proof.content)
  }

  /// What makes two facts the same fact: the signed text, and the proof that brought it.
  static func revision(of fact: AppStoreFact) -> String {
    [fact.hash, fact.proof?.id].compactMap { $0 }.joined(separator: "/")
  }

  static func record(_ fact: AppStoreFact, topic: String, now: Int64, _ traceparent: String?) throws
    -> Record
  {
    let key = key(of: fact)
    let headers = EventHeaders(
      id: EventID.make(.appStoreFact, subject: key, revision: revision(of: fact)),
      type: .appStoreFact, source: "/purser/verify-service", time: rfc3339(now), subject: key,
      traceparent: traceparent)
    return Record(
      topic: topic, key: Array(key.utf8), value: try EventJSON.encode(fact),
      headers: headers.pairs.map { Header(name: $0.name, text: $0.value) }, timestamp: now)
  }
}
