import Catalog
import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `/v1/customers`: who is who, tokens of accounts, merges, transfers by support, erasure.
struct CustomerRoutes: Sendable {
  let store: Store
  let shop: Shop
  let notices: Notices

  func add(to router: inout Router) {
    let customer = "/v1/customers/{customer}"
    router.on(.get, customer, scope: .orders) { request in try await read(request) }
    router.on(.put, "\(customer)/account-token", scope: .orders) { request in
      try await issue(request)
    }
    router.on(.post, "\(customer)/merge", scope: .entitlementsWrite, findsDone: true) { request in
      try await merge(request)
    }
    router.on(.post, "\(customer)/transfers", scope: .entitlementsWrite) { request in
      try await transfer(request)
    }
    router.on(.post, "\(customer)/erasure", scope: .admin, findsDone: true) { request in
      try await erase(request)
    }
  }

  private func read(_ request: Request) async throws -> Response {
    let id = request.parameter("customer")
    try Problem.check(customer: id)
    let bundleIds = shop.apps.all.map(\.bundleId)
    let answer = try await store.readers.read { reader in
      let customer = try CustomerStore.present(reader, id)
      return CustomerAnswer(
        customer: customer,
        aliases: try CustomerStore.merges(
          into: customer, reader, limit: Int64(MergeCustomers.limit)
        ).map(\.customer),
        accountTokens: try bundleIds.flatMap {
          try AccountTokens.all(reader, customer: customer, bundleId: $0)
        })
    }
    return .json(answer)
  }

  private func issue(_ request: Request) async throws -> Response {
    let id = request.parameter("customer")
    let input =
      request.body.isEmpty
      ? IssueAccountToken.Input(bundleId: nil, appAccountToken: nil)
      : try request.json(IssueAccountToken.Input.self)
    if input.appAccountToken != nil, request.principal?.customer != nil { throw Self.bringsToken }
    let token = try await IssueAccountToken(store: store, shop: shop)
      .run(id, input)
    return .json(token)
  }

  private func merge(_ request: Request) async throws -> Response {
    let merge = try await MergeCustomers(store: store, notices: notices).run(
      request.parameter("customer"), try request.json(MergeCustomers.Input.self),
      author: Self.author(request))
    return .json(merge)
  }

  private func transfer(_ request: Request) async throws -> Response {
    let transfer = try await TransferLineage(store: store, shop: shop).run(
      request.parameter("customer"), try request.json(TransferLineage.Input.self),
      author: Self.author(request), principal: request.principal?.name ?? "",
      idempotencyKey: try request.idempotencyKey())
    return .json(transfer, status: 202)
  }

  private func erase(_ request: Request) async throws -> Response {
    let erasure = try await EraseCustomer(store: store, notices: notices).run(
      request.parameter("customer"), try request.json(EraseCustomer.Input.self),
      author: Self.author(request))
    return .json(ErasureAnswer(erasureId: erasure.id, erasedAt: erasure.erasedAt), status: 202)
  }

  private static let bringsToken = Problem(
    status: 403, type: "token-not-allowed", title: "Not with a customer's token",
    detail: "Only your backend, with an API key, may bring an appAccountToken; leave it out.")

  /// Who decided it, as events and the audit log name it; with `PURSER_INSECURE` there is no key.
  private static func author(_ request: Request) -> String {
    request.principal?.name ?? Principal.nobody
  }
}

/// A customer, and all ids that stand for it.
private struct CustomerAnswer: Encodable {
  let customer: String
  /// Ids that were merged into it.
  let aliases: [String]
  let accountTokens: [AccountTokens.Token]
}

private struct ErasureAnswer: Encodable {
  let erasureId: String
  let erasedAt: Int64
}
