import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `/v1/orders`: place, list and read orders, cancel them, post proofs.
struct OrderRoutes: Sendable {
  let store: Store
  let shop: Shop
  let notices: Notices
  let longestWait: Duration
  let placeOrder: PlaceOrder
  let submitProof: SubmitProof

  func add(to router: inout Router) {
    let byOrder = Home.id("id", streams: false)
    router.on(
      .post, "/v1/orders", scope: .orders, tokens: .admittedByHandler, home: .customerInBody
    ) { request in
      try await place(request)
    }
    router.on(
      .get, "/v1/orders", scope: .orders, tokens: .admittedByHandler,
      home: .customerInQuery(ListOrders.gathering)
    ) { request in
      try await list(request)
    }
    router.on(
      .get, "/v1/orders/{id}", scope: .orders, tokens: .admittedByHandler, home: byOrder
    ) { request in
      try await read(request)
    }
    router.on(
      .get, "/v1/orders/{id}/moves", scope: .orders, tokens: .admittedByHandler, home: byOrder
    ) { request in
      try await moves(request)
    }
    router.on(
      .post, "/v1/orders/{id}/cancel", scope: .orders, tokens: .admittedByHandler, home: byOrder,
      findsDone: true
    ) { request in
      try await move(request, .cancel)
    }
    router.on(
      .post, "/v1/orders/{id}/pending", scope: .orders, tokens: .admittedByHandler, home: byOrder,
      findsDone: true
    ) { request in
      try await move(request, .pending)
    }
    router.on(
      .post, "/v1/orders/{id}/proofs", scope: .orders, tokens: .admittedByHandler, home: byOrder,
      findsDone: true, atOnce: { try proveAtOnce($0) },
      else: { try await prove($0, try posting($0)) })
  }

  private func place(_ request: Request) async throws -> Response {
    let input = try request.fields(PlaceOrder.Input.init)
    try request.admit(customer: input.customer)
    let order = try await placeOrder.run(
      input, principal: request.principal?.name ?? "",
      idempotencyKey: try request.idempotencyKey())
    return OrderAnswer(order).response(status: 201)
      .with("Location", "/v1/orders/\(order.id)")
  }

  private func list(_ request: Request) async throws -> Response {
    var list = try ListOrders(request)
    if let only = request.principal?.customer {
      if let customer = list.customer { try request.admit(customer: customer) }
      list.customer = only
    } else if let customer = list.customer {
      try request.admit(customer: customer)
    }
    let page = try await store.readers.read { [list] in try list.run($0) }
    return Response.json(OrderList(page))
  }

  /// With `If-None-Match` and `Prefer: wait`, waits until the order moves.
  private func read(_ request: Request) async throws -> Response {
    var order = try await order(request)
    let id = order.id
    var granted: Duration?
    if request.ifNoneMatch(order.tag), let wait = request.preferredWait(atMost: longestWait) {
      granted = wait
      let ticket = notices.requests.enter(id, group: order.customer)
      defer { notices.requests.leave(ticket) }
      // It may have moved before the place in the line was taken.
      order = try await self.order(request)
      if request.ifNoneMatch(order.tag) {
        _ = await notices.requests.wait(ticket, atMost: wait)
        order = try await self.order(request)
      }
    }
    let response = OrderAnswer(order).response().tagged(order.tag, for: request)
    return granted.map { response.appliedWait($0) } ?? response
  }

  private func moves(_ request: Request) async throws -> Response {
    let order = try await order(request)
    let moves = try await store.readers.read { try OrderMoves.after(0, of: order.id, $0) }
    return Response.json(MoveList(orderId: order.id, moves: moves))
  }

  private func move(_ request: Request, _ wish: MoveOrder.Wish) async throws -> Response {
    let id = try await order(request).id
    let moved = try await MoveOrder(store: store, shop: shop, notices: notices)
      .run(wish, id)
    return OrderAnswer(moved).response()
  }

  /// A longer body, such as an old app's receipt, takes too long for the thread of all connections.
  private static let longestAtOnce = 16 * 1024

  /// Looks at what is known on the thread of the connection: most proofs were posted before.
  private func proveAtOnce(_ request: Request) throws -> Attempted {
    guard request.body.count <= Self.longestAtOnce else { return .untried }
    let posting = try posting(request)
    guard let before = try store.readers.readAtOnce({ try submitProof.look($0, posting) }) else {
      return .begun { request in try await prove(request, posting) }
    }
    try Reach.count(before.result.order, request)
    if let result = submitProof.repeated(posting, before) {
      return .answered(try answer(result, request))
    }
    return .begun { request in try answer(try await submitProof.run(posting, before), request) }
  }

  private func prove(_ request: Request, _ posting: SubmitProof.Posting) async throws -> Response {
    let before = try await store.readers.read { try submitProof.look($0, posting) }
    try Reach.count(before.result.order, request)
    return try answer(try await submitProof.run(posting, before), request)
  }

  private func posting(_ request: Request) throws -> SubmitProof.Posting {
    let body = try ProofBody(request)
    return SubmitProof.Posting(
      proof: try PostedProof(body.text, in: body.field), orderId: Reach.orderId(request),
      own: request.principal?.customer,
      wait: request.preferredWait(atMost: longestWait) ?? .zero)
  }

  private func answer(_ result: SubmitProof.Result, _ request: Request) throws -> Response {
    let response = try ProofAnswer.response(result, shop.apps)
    return request.preferredWait(atMost: longestWait).map { response.appliedWait($0) } ?? response
  }

  /// The order in the path, as far as the caller may reach it.
  private func order(_ request: Request) async throws -> Order {
    try await Reach.order(request, store)
  }
}
