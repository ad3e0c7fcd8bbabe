import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `/v1/orders`: place an order, read it, post a proof to it.
struct OrderRoutes: Sendable {
  let store: Store
  let waiters: Waiters<String>
  let longestWait: Duration
  let placeOrder: PlaceOrder
  let submitProof: SubmitProof

  func add(to router: inout Router) {
    router.on(.post, "/v1/orders", scope: .orders, tokens: .admittedByHandler) { request in
      try await place(request)
    }
    router.on(.get, "/v1/orders/{id}", scope: .orders, tokens: .admittedByHandler) { request in
      try await read(request)
    }
    router.on(.post, "/v1/orders/{id}/proofs", scope: .orders, tokens: .admittedByHandler) {
      request in try await prove(request)
    }
  }

  private func place(_ request: Request) async throws -> Response {
    let input = try request.json(PlaceOrder.Input.self)
    try request.admit(customer: input.customer)
    let order = try await placeOrder.run(
      input, principal: request.principal?.name ?? "",
      idempotencyKey: try request.idempotencyKey(), traceparent: request.traceparent)
    return Response.json(OrderAnswer(order), status: 201)
      .with("Location", "/v1/orders/\(order.id)")
  }

  /// With `If-None-Match` and `Prefer: wait`, waits until the order moves.
  private func read(_ request: Request) async throws -> Response {
    let id = orderId(request)
    var order = try await order(id, for: request)
    if request.ifNoneMatch(order.tag), let wait = request.preferredWait(atMost: longestWait) {
      let ticket = waiters.enter(id, group: order.customer)
      defer { waiters.leave(ticket) }
      // It may have moved before the place in the line was taken.
      order = try await self.order(id)
      if request.ifNoneMatch(order.tag) {
        _ = await waiters.wait(ticket, atMost: wait)
        order = try await self.order(id)
      }
    }
    return Response.json(OrderAnswer(order)).tagged(order.tag, for: request)
  }

  /// The id in the path; Swift's `UUID` writes it in upper case, Purser in lower.
  private func orderId(_ request: Request) -> String {
    let id = request.parameter("id")
    return UUIDs.normalized(id) ?? id
  }

  /// An order that the caller may know of; to a token, another customer's is unknown.
  private func order(_ id: String, for request: Request) async throws -> Order {
    let order = try await order(id)
    guard request.isOwn(customer: order.customer) else { throw Problem.unknownOrder(id) }
    try request.admit(customer: order.customer)
    return order
  }

  private func order(_ id: String) async throws -> Order {
    guard let order = try await store.readers.read({ try OrderStore.order($0, id) }) else {
      throw Problem.unknownOrder(id)
    }
    return order
  }

  private func prove(_ request: Request) async throws -> Response {
    let wait = request.preferredWait(atMost: longestWait)
    if request.principal?.customer != nil {
      _ = try await order(orderId(request), for: request)
    }
    let result = try await submitProof.run(
      try request.json(SubmitProof.Input.self), orderId: orderId(request),
      wait: wait ?? .zero, traceparent: request.traceparent)
    let response = try ProofAnswer.response(result)
    return wait.map { response.appliedWait($0) } ?? response
  }
}

/// An order as the app sees it.
struct OrderAnswer: Encodable {
  private let order: Order

  init(_ order: Order) { self.order = order }

  private enum Keys: CodingKey { case appAccountToken }

  func encode(to encoder: any Encoder) throws {
    try order.encode(to: encoder)
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(order.id, forKey: .appAccountToken)
  }
}

extension Order {
  /// The entity tag: the revision says it all.
  var tag: String { "\(revision)" }
}

/// What the app is told about its proof.
struct ProofAnswer: Encodable {
  let proofId: String
  /// Null while the proof is not decided.
  let outcome: Outcome?
  /// Whether the app may call `finish()` on the transaction.
  let finish: Bool
  let transactionId: String?
  let lineage: String?
  let order: OrderAnswer

  private enum Keys: CodingKey {
    case proofId, outcome, finish, transactionId, lineage, order
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Keys.self)
    try container.encode(proofId, forKey: .proofId)
    try container.encode(outcome, forKey: .outcome)
    try container.encode(finish, forKey: .finish)
    try container.encodeIfPresent(transactionId, forKey: .transactionId)
    try container.encodeIfPresent(lineage, forKey: .lineage)
    try container.encode(order, forKey: .order)
  }

  /// 200 with the outcome, 202 while there is none.
  ///
  /// - Throws: `Problem` `proof-rejected` or `belongs-to-another`.
  static func response(_ result: SubmitProof.Result) throws -> Response {
    let outcome = result.outcome
    switch outcome?.outcome {
    case .rejected?:
      throw Problem(
        status: 422, type: "proof-rejected", title: "The proof was refused",
        detail: (outcome?.detail ?? "The proof is not a genuine purchase of this app.")
          + " Nothing was recorded: do not call finish().",
        members: [
          "reason": .string(outcome?.reason ?? "rejected"), "proofId": .string(result.proofId),
          "finish": false, "orderState": .string(result.order.state.rawValue),
        ])
    case .belongsToAnother?:
      throw Problem(
        status: 409, type: "belongs-to-another", title: "The purchase belongs to another customer",
        detail: (outcome?.detail ?? "The purchase belongs to another customer.")
          + " It is recorded for its owner, so the app may call finish().",
        members: [
          "proofId": .string(result.proofId), "finish": true,
          "orderState": .string(result.order.state.rawValue),
        ])
    default:
      let answer = ProofAnswer(
        proofId: result.proofId, outcome: outcome?.outcome, finish: outcome != nil,
        transactionId: outcome?.transactionId, lineage: outcome?.lineage,
        order: OrderAnswer(result.order))
      return .json(answer, status: outcome == nil ? 202 : 200)
    }
  }
}
