import AppStore
import HTTPServer

/// One transaction: reading it, a fresh copy, and refunds.
struct TransactionRoutes: Sendable {
  private struct Answer: Encodable {
    let transaction: TransactionPayload
    let signedTransaction: String
    let signedRenewalInfo: String?
  }

  let simulator: Simulator

  func add(to router: inout Router) {
    router.on(.get, "/control/transactions/{id}", scope: nil, handler: sign)
    router.on(.post, "/control/transactions/{id}/sign", scope: nil, handler: sign)
    command("refund", &router) { (ledger, id, body, now) throws(Refusal) in
      try ledger.refund(
        id, reason: body.reason ?? 0, percentage: body.percentage ?? 100_000, at: now)
    }
    command("reverse-refund", &router) { (ledger, id, _, now) throws(Refusal) in
      try ledger.reverseRefund(id, at: now)
    }
    command("decline-refund", &router) { (ledger, id, _, now) throws(Refusal) in
      try ledger.declineRefund(id, at: now)
    }
    command("request-refund", &router) { (ledger, id, body, now) throws(Refusal) in
      let reason = body.consumptionRequestReason ?? "UNINTENDED_PURCHASE"
      return try ledger.requestRefund(
        id, reason: ConsumptionRequestReason(rawValue: reason), at: now)
    }
    router.on(.get, "/control/transactions/{id}/consumption", scope: nil) { request in
      let id = request.parameter("id")
      return try await ControlProblems.translating {
        let reports = try simulator.read { ledger in
          ledger.consumption[try ledger.charge(id).id] ?? []
        }
        return .json(["consumption": reports])
      }
    }
  }

  private func command(
    _ verb: String, _ router: inout Router,
    _ work:
      @escaping @Sendable (inout Ledger, String, CommandBody, Int64) throws(Refusal) ->
      Happening
  ) {
    router.on(.post, "/control/transactions/{id}/\(verb)", scope: nil) { request in
      let body = try CommandBody(request)
      let id = request.parameter("id")
      return try await ControlProblems.translating {
        let outcome = try simulator.perform(notifies: body.notify ?? true) {
          ledger, now in try work(&ledger, id, body, now)
        }
        return .json(
          try CommandAnswer(outcome, signer: simulator.signer, at: simulator.clock.now()))
      }
    }
  }

  /// The transaction as it stands, signed now.
  @Sendable private func sign(_ request: Request) async throws -> Response {
    let id = request.parameter("id")
    return try await ControlProblems.translating {
      let (payload, info) = try simulator.read { ledger in
        let charge = try ledger.charge(id)
        let lineage = ledger.lineages[charge.originalId]
        return (ledger.payload(of: charge), lineage.map { ledger.renewalInfo(of: $0) })
      }
      let now = simulator.clock.now()
      return .json(
        Answer(
          transaction: payload, signedTransaction: try simulator.signer.sign(payload, at: now),
          signedRenewalInfo: try info.map { try simulator.signer.sign($0, at: now) }))
    }
  }
}
