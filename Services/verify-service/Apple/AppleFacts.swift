import AppStore
import Cryptography
import Events
import Pipeline

/// What Apple's API answered, proved and ready for `iap.appstore`.
struct AppleFact: Sendable {
  let fact: AppStoreFact
  /// What a signed transaction says; nil for renewal info and notifications.
  var transaction: LineageTransaction?
  /// What renewal info says.
  var renewal: LineageRenewal?
}

/// Apple answered with signed text that does not stand here: of a stranger, of another app or of
/// another environment.
struct ForeignAnswer: Error, CustomStringConvertible {
  let lane: AppleLane
  let detail: String

  var description: String {
    "Apple's API answered for \(lane) with signed text that is refused: \(detail). "
      + "Look at the roots in purser.json and at what stands between here and Apple."
  }
}

/// Proves signed text that Apple's API answered: TLS says where it came from, the signature whose it
/// is.
struct AppleFacts: Sendable {
  let verifier: SignedDataVerifier

  /// A signed transaction.
  func transaction(
    _ signed: String, source: FactSource, lane: AppleLane, at now: Int64
  ) throws -> AppleFact {
    do {
      let verified = try verifier.verifyTransaction(signed, expectedBundle: lane.bundleId)
      try check(verified.environment, lane)
      let hash = SHA256.hex(signed)
      guard let original = verified.payload.originalTransactionId,
        let transaction = LineageTransaction(verified.payload, hash: hash)
      else { throw ForeignAnswer(lane: lane, detail: "a transaction lacks its ids or dates") }
      return AppleFact(
        fact: fact(signed, hash, source, lane, original, now), transaction: transaction)
    } catch let rejection as Rejection {
      throw ForeignAnswer(lane: lane, detail: rejection.description)
    }
  }

  /// Signed renewal info.
  func renewal(
    _ signed: String, source: FactSource, lane: AppleLane, at now: Int64
  ) throws -> AppleFact {
    do {
      let verified = try verifier.verifyRenewalInfo(signed, expectedBundle: lane.bundleId)
      try check(verified.environment, lane)
      let hash = SHA256.hex(signed)
      guard let original = verified.payload.originalTransactionId else {
        throw ForeignAnswer(lane: lane, detail: "renewal info lacks its original transaction id")
      }
      return AppleFact(
        fact: fact(signed, hash, source, lane, original, now),
        renewal: LineageRenewal(verified.payload, hash: hash))
    } catch let rejection as Rejection {
      throw ForeignAnswer(lane: lane, detail: rejection.description)
    }
  }

  /// A notification of Apple's history; one of unknown form is kept as the edge keeps it.
  func notification(_ signed: String, lane: AppleLane, at now: Int64) throws -> AppStoreFact {
    do {
      let verified = try verifier.verifyNotification(signed)
      guard verified.notification.app?.bundleId ?? lane.bundleId == lane.bundleId else {
        throw ForeignAnswer(lane: lane, detail: "a notification is for another app")
      }
      try check(verified.notification.environment, lane)
      var fact = FactWriter.fact(of: verified, signed, receivedAt: now)
      fact.source = .backFill
      return fact
    } catch let rejection as Rejection
      where rejection.isGenuine && [.unknownForm, .malformedPayload].contains(rejection.code)
    {
      var fact = FactWriter.unknownForm(signed, receivedAt: now)
      fact.source = .backFill
      return fact
    } catch let rejection as Rejection {
      throw ForeignAnswer(lane: lane, detail: rejection.description)
    }
  }

  private func check(_ environment: AppEnvironment, _ lane: AppleLane) throws {
    guard environment.rawValue == lane.environment else {
      throw ForeignAnswer(lane: lane, detail: "it is of \(environment.rawValue)")
    }
  }

  private func fact(
    _ signed: String, _ hash: String, _ source: FactSource, _ lane: AppleLane, _ original: String,
    _ now: Int64
  ) -> AppStoreFact {
    AppStoreFact(
      source: source, signed: signed, hash: hash, bundleId: lane.bundleId,
      environment: lane.environment,
      lineage: LineageID(
        bundleId: lane.bundleId, environment: lane.environment, originalTransactionId: original
      ).description, receivedAt: now)
  }
}

extension AppleFact {
  /// Whether the ledger would learn something: a copy that was only signed anew says nothing.
  func isNews(to lineage: Lineage) -> Bool {
    if let transaction {
      guard let known = lineage.transaction(transaction.transactionId) else { return true }
      return transaction.signedDate > known.signedDate && !transaction.saysTheSame(as: known)
    }
    if let renewal {
      guard let known = lineage.renewal else { return true }
      return renewal.signedDate > known.signedDate && !renewal.saysTheSame(as: known)
    }
    return false
  }
}

extension Lineage {
  /// Takes in a fact that is on its way to the ledger.
  fileprivate mutating func take(_ fact: AppleFact) {
    var contents = FactContents(lineage: id, cause: LineageCause(kind: fact.fact.source.rawValue))
    contents.transactions = [fact.transaction].compactMap { $0 }
    contents.renewal = fact.renewal
    _ = merge(contents)
  }
}

extension LineageTransaction {
  /// Whether all but the signing is equal.
  func saysTheSame(as other: LineageTransaction) -> Bool {
    var copy = self
    copy.signedDate = other.signedDate
    copy.hash = other.hash
    return copy == other
  }
}

extension LineageRenewal {
  /// Whether all but the signing is equal.
  func saysTheSame(as other: LineageRenewal) -> Bool {
    var copy = self
    copy.signedDate = other.signedDate
    copy.hash = other.hash
    return copy == other
  }
}

extension Change {
  /// Puts a proved fact into the outbox for `iap.appstore`.
  func publish(fact: AppStoreFact) throws {
    let key = FactWriter.key(of: fact)
    try publish(
      .appstore, key: key, type: .appStoreFact, subject: key,
      revision: FactWriter.revision(of: fact), fact)
  }

  /// Publishes those facts that the ledger does not know; how many they were.
  func publishNews(_ facts: [AppleFact]) throws -> Int {
    var count = 0
    var lineages: [String: Lineage] = [:]
    for fact in facts {
      guard let name = fact.fact.lineage, let id = LineageID(name) else { continue }
      var lineage = try lineages[name] ?? LineageStore.lineage(transaction, id) ?? Lineage(id)
      guard fact.isNews(to: lineage) else { continue }
      try publish(fact: fact.fact)
      // What comes behind it is compared with it, too.
      lineage.take(fact)
      lineages[name] = lineage
      count += 1
    }
    return count
  }
}
