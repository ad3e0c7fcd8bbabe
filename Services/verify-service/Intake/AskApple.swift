import AppStore
import Catalog
import Events
import ServiceRuntime

/// Asks Apple about a proof, by its kind.
struct AskApple: Sendable {
  let judge: ProofJudge
  let revocation: RevocationCheck
  /// Per app that has an API key: where its transactions are looked for.
  let lookups: [String: EnvironmentLookup]
  let verifyReceipt: VerifyReceiptClient

  func ask(_ row: PendingProofs.Row) async -> IntakeWorker.Answer {
    let proof = row.proof
    switch proof.kind {
    case .signedTransaction: return await checkRevocation(proof)
    case .receipt: return await ask(receipt: proof)
    case .transactionReceipt where judge.asksApple(proof.bundleId):
      return await verifyReceipt.ask(proof, ownProof: nil)
    case .transactionReceipt:
      do {
        let id = try ReceiptIdentifiers.unprovedTransactionId(
          inLegacyTransactionReceipt: proof.content)
        return await find(id.digits, proof)
      } catch {
        return .decided(.rejected(reason: error.code.rawValue, detail: error.description))
      }
    default: return await find(proof.content, proof)
    }
  }

  private func checkRevocation(_ proof: Proof) async -> IntakeWorker.Answer {
    do {
      let verified = try judge.verifier.verifyTransaction(proof.content)
      return await passed(
        verified, proof.content, bundleId: verified.app?.bundleId ?? proof.bundleId)
    } catch {
      return .decided(.rejected(reason: error.code.rawValue, detail: error.description))
    }
  }

  private func passed(
    _ verified: Verified<TransactionPayload>, _ signed: String, bundleId: String
  ) async -> IntakeWorker.Answer {
    let policy = judge.apps.policies(bundleId, verified.environment.rawValue)
    switch await revocation.ask(verified.certificates, policy.revocationCheck) {
    case .passed:
      return .decided(ProofJudge.proved(signed, verified, bundleId: bundleId))
    case .refused(let reason, let detail):
      return .decided(.rejected(reason: reason, detail: detail))
    case .unknown(let why):
      return .tryLater(fault: why, after: nil)
    }
  }

  private func ask(receipt proof: Proof) async -> IntakeWorker.Answer {
    let own = judge.local(proof)
    let policy = own.map {
      judge.apps.policies($0.app.bundleId, $0.environment.rawValue).receipts
    }
    var proof = proof
    // Whose receipt it is, says the receipt; the secret is that app's.
    if let own { proof.bundleId = own.app.bundleId }
    return await verifyReceipt.ask(proof, ownProof: policy == .both ? own : nil)
  }

  private func find(_ id: String, _ proof: Proof) async -> IntakeWorker.Answer {
    guard let lookup = lookups[proof.bundleId] else {
      return .decided(
        .rejected(
          reason: "no-api-key",
          detail: "\(proof.bundleId) has no API key in purser.json any more"))
    }
    let found: EnvironmentLookup.Found
    do {
      found = try await lookup.find(id)
    } catch {
      return answer(to: error)
    }
    do {
      let signed = found.answer.signedTransactionInfo
      let verified = try judge.verifier.verifyTransaction(signed, expectedBundle: proof.bundleId)
      return await passed(verified, signed, bundleId: proof.bundleId)
    } catch {
      return .decided(.rejected(reason: error.code.rawValue, detail: error.description))
    }
  }

  private func answer(to error: APIError) -> IntakeWorker.Answer {
    guard error.isVerdict else {
      // Also what a person must mend, such as a key: the proof is kept until then.
      return .tryLater(fault: error.description, after: error.retryAfter)
    }
    if case .unknownTransaction = error.kind {
      return .decided(
        .rejected(
          reason: "unknown-transaction",
          detail: "Apple knows no such transaction of this app: \(error.message); post the signed "
            + "transaction instead"))
    }
    return .decided(
      .rejected(
        reason: "refused-by-apple",
        detail: "\(error.description). \(error.code?.advice ?? "Post the signed transaction.")"))
  }
}
