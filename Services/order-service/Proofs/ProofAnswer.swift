import Catalog
import Events
import HTTPServer
import JSON

/// What the app is told about its proof.
struct ProofAnswer {
  let proofId: String
  /// Null while the proof is not decided.
  let outcome: Outcome?
  /// Whether the app may call `finish()` on the transaction.
  let finish: Bool
  let transactionId: String?
  let lineage: String?
  /// What a receipt lists, a lineage each; absent for a proof of one transaction.
  let parts: [PartAnswer]
  let order: OrderAnswer

  /// The members, sorted by name.
  private func write(to json: inout JSONWriter) {
    json.bool("finish", finish)
    json.text("lineage", lineage)
    json.object("order", order.write)
    if let outcome { json.text("outcome", outcome.rawValue) } else { json.null("outcome") }
    if !parts.isEmpty { json.objects("parts", parts) { $0.write(to: &$1) } }
    json.text("proofId", proofId)
    json.text("transactionId", transactionId)
  }

  /// 200 with the outcome, 202 while there is none.
  ///
  /// - Throws: `Problem` `proof-rejected`, `not-in-receipt` or `belongs-to-another`.
  static func response(_ result: SubmitProof.Result, _ apps: Apps) throws(Problem) -> Response {
    guard let outcome = result.outcome else { return answer(result, status: 202) }
    if outcome.outcome == .rejected { throw .rejected(outcome, result) }
    if outcome.outcome == .belongsToAnother {
      throw .belongsToAnother(outcome, result, TransferAdvice.text(for: outcome, apps))
    }
    // Of a receipt's other purchases nothing follows for the order, and its own is not recorded.
    let order = result.order
    if order.state == .rejected, order.rejection == ProofDecision.notInReceipt,
      !result.parts.isEmpty
    {
      throw .notInReceipt(result)
    }
    return answer(result, status: 200)
  }

  private static func answer(_ result: SubmitProof.Result, status: Int) -> Response {
    let answer = ProofAnswer(
      proofId: result.proofId, outcome: result.outcome?.outcome, finish: result.outcome != nil,
      transactionId: result.outcome?.transactionId, lineage: result.outcome?.lineage,
      parts: result.parts.map(PartAnswer.init), order: OrderAnswer(result.order))
    var json = JSONWriter()
    json.object(answer.write)
    return .json(bytes: json.bytes, status: status)
  }
}

/// One lineage of those that a proof is about, and what came of it.
struct PartAnswer: Encodable {
  let outcome: Outcome
  let finish: Bool
  let lineage: String?
  let transactionId: String?
  let productId: String?
  let reason: String?
  let detail: String?

  init(_ outcome: ProofOutcome) {
    self.outcome = outcome.outcome
    finish = outcome.outcome != .rejected
    lineage = outcome.lineage
    transactionId = outcome.transactionId
    productId = outcome.productId
    reason = outcome.reason
    detail = outcome.detail.map(sentence)
  }

  /// The same members, sorted by name.
  fileprivate func write(to json: inout JSONWriter) {
    json.text("detail", detail)
    json.bool("finish", finish)
    json.text("lineage", lineage)
    json.text("outcome", outcome.rawValue)
    json.text("productId", productId)
    json.text("reason", reason)
    json.text("transactionId", transactionId)
  }
}

extension Problem {
  fileprivate static func rejected(_ outcome: ProofOutcome, _ result: SubmitProof.Result) -> Problem
  {
    Problem(
      status: 422, type: "proof-rejected", title: "The proof was refused",
      detail: sentence(outcome.detail ?? "The proof is not a genuine purchase of this app.")
        + " Nothing is recorded for this customer: do not call finish().",
      members: [
        "reason": .string(outcome.reason ?? "rejected"), "proofId": .string(result.proofId),
        "finish": false, "orderState": .string(result.order.state.rawValue),
      ])
  }

  fileprivate static func notInReceipt(_ result: SubmitProof.Result) -> Problem {
    let count = result.parts.count
    return Problem(
      status: 422, type: "not-in-receipt", title: "The receipt does not list what was ordered",
      detail: "The receipt is genuine, and what it lists (\(count)) is recorded, but "
        + "'\(result.order.productId)' is not among them or has completed another order. Do not "
        + "call finish(): refresh the receipt and post it again.",
      members: [
        "proofId": .string(result.proofId), "finish": false,
        "orderState": .string(result.order.state.rawValue),
      ])
  }

  fileprivate static func belongsToAnother(
    _ outcome: ProofOutcome, _ result: SubmitProof.Result, _ advice: TransferAdvice
  ) -> Problem {
    var members: [String: JSONValue] = [
      "proofId": .string(result.proofId), "finish": true, "policy": .string(advice.policy),
      "orderState": .string(result.order.state.rawValue),
    ]
    if let reason = outcome.reason { members["reason"] = .string(reason) }
    if let lineage = outcome.lineage { members["lineage"] = .string(lineage) }
    return Problem(
      status: 409, type: "belongs-to-another", title: "The purchase belongs to another customer",
      detail: advice.text
        + " The purchase is recorded for its owner, so the app may call finish().",
      members: members)
  }
}
