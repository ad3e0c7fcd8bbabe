import AppStore
import HTTPServer

/// One subscription: reading it, and what a customer or the time does to it.
struct SubscriptionRoutes: Sendable {
  private struct Answer: Encodable {
    let originalTransactionId: String
    let status: Int32
    let transactionIds: [String]
    let transaction: TransactionPayload?
    let renewalInfo: RenewalInfoPayload
    let signedTransaction: String?
    let signedRenewalInfo: String
  }

  let simulator: Simulator

  func add(to router: inout Router) {
    router.on(.get, "/control/subscriptions/{id}", scope: nil, handler: read)
    command("renew", &router) { (ledger, id, now) throws(Refusal) in
      try ledger.renew(id, at: now)
    }
    command("cancel", &router) { (ledger, id, now) throws(Refusal) in
      try ledger.setAutoRenew(false, of: id, at: now)
    }
    command("resume", &router) { (ledger, id, now) throws(Refusal) in
      try ledger.setAutoRenew(true, of: id, at: now)
    }
    command("expire", &router) { (ledger, id, now) throws(Refusal) in
      try ledger.expire(id, at: now)
    }
  }

  private func command(
    _ verb: String, _ router: inout Router,
    _ work: @escaping @Sendable (inout Ledger, String, Int64) throws(Refusal) -> Happening
  ) {
    router.on(.post, "/control/subscriptions/{id}/\(verb)", scope: nil) { request in
      let body = try CommandBody(request)
      let id = request.parameter("id")
      return try await ControlProblems.translating {
        let outcome = try simulator.perform(notifies: body.notify ?? true) {
          ledger, now in try work(&ledger, id, now)
        }
        return .json(
          try CommandAnswer(outcome, signer: simulator.signer, at: simulator.clock.now()))
      }
    }
  }

  @Sendable private func read(_ request: Request) async throws -> Response {
    let id = request.parameter("id")
    return try await ControlProblems.translating {
      let (lineage, transaction, info) = try simulator.read { ledger in
        let lineage = try ledger.lineage(id)
        let charge = ledger.charges[lineage.current]
        return (
          lineage, charge.map { ledger.payload(of: $0) }, ledger.renewalInfo(of: lineage)
        )
      }
      let now = simulator.clock.now()
      return .json(
        Answer(
          originalTransactionId: id, status: lineage.status.rawValue,
          transactionIds: lineage.charges.map { String($0) }, transaction: transaction,
          renewalInfo: info,
          signedTransaction: try transaction.map { try simulator.signer.sign($0, at: now) },
          signedRenewalInfo: try simulator.signer.sign(info, at: now)))
    }
  }
}
