import Catalog
import Cryptography
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `/v1/restores`: what a customer bought before, on this or another device.
struct RestoreRoutes: Sendable {
  let store: Store
  let shop: Shop
  let longestWait: Duration
  let restorePurchases: RestorePurchases

  func add(to router: inout Router) {
    router.on(
      .post, "/v1/restores", scope: .orders, tokens: .admittedByHandler, home: .customerInBody,
      findsDone: true
    ) { request in
      try await restore(request)
    }
    router.on(
      .get, "/v1/restores/{id}", scope: .orders, tokens: .admittedByHandler,
      home: .id("id", streams: false)
    ) { request in
      try await read(request)
    }
  }

  private func restore(_ request: Request) async throws -> Response {
    let input = try request.json(RestorePurchases.Input.self)
    try request.admit(customer: input.customer)
    let wait = request.preferredWait(atMost: longestWait)
    let result = try await restorePurchases.run(input, wait: wait ?? .zero)
    return answer(result, wait)
  }

  private func read(_ request: Request) async throws -> Response {
    let id = UUIDs.normalized(request.parameter("id")) ?? request.parameter("id")
    let own = request.principal?.customer
    let restore = try await store.readers.read { reader -> Restore? in
      guard let restore = try RestoreStore.restore(reader, id) else { return nil }
      guard let own else { return restore }
      return Customer.isSame(try CustomerStore.root(reader, own), restore.customer) ? restore : nil
    }
    guard let restore else {
      throw Problem(
        status: 404, type: "unknown-restore", title: "Unknown restore",
        detail: "There is no restore '\(id.prefix(100))'.")
    }
    // A token's customer was counted before.
    if own == nil { try request.admit(customer: restore.customer) }
    let wait = request.preferredWait(atMost: longestWait)
    return answer(try await restorePurchases.result(restore, wait: wait ?? .zero), wait)
  }

  /// 200 when all is decided, 202 before.
  private func answer(_ result: RestorePurchases.Result, _ wait: Duration?) -> Response {
    let response = Response.json(
      RestoreAnswer(result, shop.apps), status: result.isDecided ? 200 : 202
    ).with("Location", "/v1/restores/\(result.restore.id)")
    return wait.map { response.appliedWait($0) } ?? response
  }
}

/// A restore as the app sees it.
private struct RestoreAnswer: Encodable {
  struct Item: Encodable {
    let place: String
    let proofId: String?
    /// Null while it is not decided.
    let outcome: Outcome?
    /// Whether the app may call `finish()` on the transaction.
    let finish: Bool
    let lineage: String?
    let transactionId: String?
    let productId: String?
    let reason: String?
    let detail: String?
    let parts: [PartAnswer]?

    private enum Keys: CodingKey {
      case place, proofId, outcome, finish, lineage, transactionId, productId, reason, detail
      case parts
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Keys.self)
      try container.encode(place, forKey: .place)
      try container.encodeIfPresent(proofId, forKey: .proofId)
      try container.encode(outcome, forKey: .outcome)
      try container.encode(finish, forKey: .finish)
      try container.encodeIfPresent(lineage, forKey: .lineage)
      try container.encodeIfPresent(transactionId, forKey: .transactionId)
      try container.encodeIfPresent(productId, forKey: .productId)
      try container.encodeIfPresent(reason, forKey: .reason)
      try container.encodeIfPresent(detail, forKey: .detail)
      try container.encodeIfPresent(parts, forKey: .parts)
    }
  }

  let id: String
  let customer: String
  let bundleId: String
  let createdAt: Int64
  let decided: Bool
  let items: [Item]

  init(_ result: RestorePurchases.Result, _ apps: Apps) {
    id = result.restore.id
    customer = result.restore.customer
    bundleId = result.restore.bundleId
    createdAt = result.restore.createdAt
    decided = result.isDecided
    items = result.restore.items.map { item in
      guard let proofId = item.proofId else {
        return Item(
          place: item.place, proofId: nil, outcome: .rejected, finish: false, lineage: nil,
          transactionId: nil, productId: nil, reason: "malformed-proof", detail: item.fault,
          parts: nil)
      }
      let outcomes = result.outcomes[proofId] ?? []
      let best = ProofDecision(orderId: nil, customer: nil, outcomes: outcomes).best
      let isAnothers = best?.outcome == .belongsToAnother
      return Item(
        place: item.place, proofId: proofId, outcome: best?.outcome,
        finish: best.map { $0.outcome != .rejected } ?? false, lineage: best?.lineage,
        transactionId: best?.transactionId, productId: best?.productId, reason: best?.reason,
        detail: best.flatMap {
          isAnothers ? TransferAdvice.text(for: $0, apps).text : $0.detail.map(sentence)
        },
        parts: outcomes.first?.part == nil ? nil : outcomes.map(PartAnswer.init))
    }
  }
}
