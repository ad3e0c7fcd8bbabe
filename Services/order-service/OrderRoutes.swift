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
    router.on(.post, "/v1/orders", scope: .orders) { request in try await place(request) }
    router.on(.get, "/v1/orders/{id}", scope: .orders) { request in try await read(request) }
    router.on(.post, "/v1/orders/{id}/proofs", scope: .orders) { request in
      try await prove(request)
    }
  }

  private func place(_ request: Request) async throws -> Response {
    let order = try await placeOrder.run(
      try request.json(PlaceOrder.Input.self), principal: request.principal?.name ?? "",
      idempotencyKey: try request.idempotencyKey(), traceparent: request.traceparent)
    return Response.json(OrderAnswer(order), status: 201)
      .with("Location", "/v1/orders/\(order.id)")
  }

  /// With `If-None-Match` and `Prefer: wait`, waits until the order moves.
  private func read(_ request: Request) async throws -> Response {
    let id = request.parameter("id")
    let ticket = waiters.enter(id)
    defer { waiters.leave(ticket) }
    var order = try await order(id)
    if request.ifNoneMatch(order.tag), let wait = request.preferredWait(atMost: longestWait) {
      _ = await waiters.wait(ticket, atMost: wait)
      order = try await self.order(id)
    }
    return Response.json(OrderAnswer(order)).tagged(order.tag, for: request)
  }

  private func order(_ id: String) async throws -> Order {
    guard let order = try await store.readers.read({ try OrderStore.order($0, id) }) else {
      throw Problem.unknownOrder(id)
    }
    return order
  }

  private func prove(_ request: Request) async throws -> Response {
    let wait = request.preferredWait(atMost: longestWait)
    let result = try await submitProof.run(
      try request.json(SubmitProof.Input.self), orderId: request.parameter("id"),
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
        detail: outcome?.detail ?? "The proof is not a genuine purchase of this app.",
        members: [
          "reason": .string(outcome?.reason ?? "rejected"), "proofId": .string(result.proofId),
        ])
    case .belongsToAnother?:
      throw Problem(
        status: 409, type: "belongs-to-another", title: "The purchase belongs to another customer",
        detail: outcome?.detail ?? "The purchase belongs to another customer.",
        members: ["proofId": .string(result.proofId)])
    default:
      let answer = ProofAnswer(
        proofId: result.proofId, outcome: outcome?.outcome, finish: outcome != nil,
        transactionId: outcome?.transactionId, lineage: outcome?.lineage,
        order: OrderAnswer(result.order))
      return .json(answer, status: outcome == nil ? 202 : 200)
    }
  }
}
