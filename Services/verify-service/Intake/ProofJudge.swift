import AppStore
import Catalog
import Cryptography
import Events
import FoundationEssentials

/// Judges proofs as far as that is possible here, without asking anyone.
struct ProofJudge: Sendable {
  let verifier: SignedDataVerifier
  let receipts: ReceiptVerifier
  let apps: Apps
  let revocation: RevocationCheck
  /// The apps whose transactions can be asked for.
  let appsWithKey: Set<String>
  let clock: @Sendable () -> Int64

  func judge(_ proof: Proof) -> Judgement {
    switch proof.kind {
    case .signedTransaction: return judge(signed: proof)
    case .receipt: return judge(receipt: proof)
    case .transactionReceipt:
      return asksApple(proof.bundleId) || appsWithKey.contains(proof.bundleId)
        ? .askApple
        : .rejected(
          reason: "not-provable",
          detail: "a transaction receipt of iOS 6 can only be proved by Apple, and neither an API "
            + "key nor verifyReceipt is configured for \(proof.bundleId); post the signed "
            + "transaction or the app receipt instead")
    case .transactionId:
      return appsWithKey.contains(proof.bundleId)
        ? .askApple
        : .rejected(
          reason: "no-api-key",
          detail: "Apple must be asked for a transaction id, and \(proof.bundleId) has no API key "
            + "in purser.json; post the signed transaction instead")
    default:
      return .rejected(
        reason: "unsupported-proof",
        detail: "a proof of kind '\(proof.kind.rawValue)' is not known here")
    }
  }

  /// The transaction names its app: one of another configured app than the order's is as genuine, and
  /// what comes of it is the order's to say (it is marked as mismatched).
  private func judge(signed proof: Proof) -> Judgement {
    do {
      let verified = try verifier.verifyTransaction(proof.content)
      let bundleId = verified.app?.bundleId ?? proof.bundleId
      let policy = apps.policies(bundleId, verified.environment.rawValue).revocationCheck
      switch revocation.known(verified.certificates, policy) {
      case .unknown: return .askApple
      case .refused(let reason, let detail): return .rejected(reason: reason, detail: detail)
      case .passed: return Self.proved(proof.content, verified, bundleId: bundleId)
      }
    } catch {
      return .rejected(reason: error.code.rawValue, detail: error.description)
    }
  }

  /// What a verified transaction proves.
  static func proved(
    _ signed: String, _ verified: Verified<TransactionPayload>, bundleId: String
  ) -> Judgement {
    let payload = verified.payload
    guard let original = payload.originalTransactionId, payload.transactionId != nil,
      payload.productId != nil, payload.purchaseDate != nil
    else {
      return .rejected(
        reason: "incomplete-transaction",
        detail: "the transaction lacks its id, original id, product or purchase date")
    }
    return .proved(
      ProvedFacts(
        signed: signed,
        LineageID(
          bundleId: bundleId, environment: verified.environment.rawValue,
          originalTransactionId: original)))
  }

  /// A receipt is always tried here first; Apple is asked where the policy says so.
  private func judge(receipt proof: Proof) -> Judgement {
    do {
      let verified = try receipts.verify(proof.content)
      let policy = apps.policies(verified.app.bundleId, verified.environment.rawValue)
      // Xcode has no server that could be asked.
      guard !policy.receipts.asksApple || verified.environment == .xcode else { return .askApple }
      return proved(verified, proof)
    } catch {
      if asksApple(proof.bundleId, only: .verifyReceipt), !error.isGenuine { return .askApple }
      return .rejected(reason: error.code.rawValue, detail: error.description)
    }
  }

  /// What the receipt's own signature proves; nil when it proves nothing.
  func local(_ proof: Proof) -> VerifiedReceipt? {
    try? receipts.verify(proof.content)
  }

  /// What a verified receipt proves.
  func proved(_ verified: VerifiedReceipt, _ proof: Proof) -> Judgement {
    guard !verified.receipt.hasExpired(at: clock()) else {
      return .rejected(
        reason: "receipt-expired",
        detail: "the receipt of the Volume Purchase Program has run out")
    }
    var facts = ProvedFacts()
    facts.receipt = ProvedFacts.Whole(
      base64: proof.content, hash: verified.hash, bundleId: verified.app.bundleId,
      environment: verified.environment.rawValue)
    var certificate: String?
    if case .xcode(let hash) = verified.signer { certificate = hash }
    do {
      try facts.add(
        verified.lineages, evidence: RecordedReceipt.receipt, certificate: certificate)
    } catch {
      return .rejected(reason: "malformed-content", detail: "the receipt cannot be recorded")
    }
    return .proved(facts)
  }

  /// Whether Apple's `verifyReceipt` is to be asked for an app, in any of its environments.
  func asksApple(_ bundleId: String, only policy: Policies.Receipts? = nil) -> Bool {
    (apps.app(bundleId)?.environments ?? [:]).contains { environment, policies in
      environment != "Xcode"
        && (policy.map { policies.receipts == $0 } ?? policies.receipts.asksApple)
    }
  }
}
