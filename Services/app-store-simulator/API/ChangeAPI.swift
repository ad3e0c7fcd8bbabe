import AppStore
import Cryptography
import HTTPServer

/// Endpoints that change something: tokens, deliveries, renewal dates.
struct ChangeAPI: Sendable {
  let api: StoreAPI

  private var simulator: Simulator { api.simulator }

  func add(to router: inout Router) {
    api.on(
      .appAccountToken, .put, "/inApps/v1/transactions/{id}/appAccountToken", &router
    ) { request in
      let id = request.parameter("id")
      let text = try APIBody(request).text("appAccountToken", or: .invalidAppAccountTokenUUID)
      guard let token = UUIDs.normalized(text) else {
        throw APIRefusal(.invalidAppAccountTokenUUID)
      }
      try simulator.performAll { ledger, _ in
        try ledger.setToken(token, of: id)
        return []
      }
      return Response(status: 200)
    }
    api.on(.finish, .post, "/inApps/v1/transactions/{id}/finish", &router) { request in
      let id = request.parameter("id")
      try simulator.performAll { ledger, _ in
        try ledger.finish(id)
        return []
      }
      return Response(status: 200)
    }
    api.on(.extendRenewal, .put, "/inApps/v1/subscriptions/extend/{id}", &router, extend)
    api.on(.massExtension, .post, "/inApps/v1/subscriptions/extend/mass", &router, extendAll)
    api.on(
      .massExtensionStatus, .get,
      "/inApps/v1/subscriptions/extend/mass/{productId}/{requestIdentifier}", &router, status)
  }

  private struct Extended: Encodable {
    let originalTransactionId: String
    let webOrderLineItemId: String?
    let success: Bool
    let effectiveDate: Int64?
  }

  @Sendable private func extend(_ request: Request) async throws -> Response {
    let id = request.parameter("id")
    let plan = try plan(try APIBody(request))
    let happenings = try simulator.performAll { ledger, now in
      [try ledger.extend(id, plan, at: now)]
    }
    let transaction = happenings.first?.transaction
    return .json(
      Extended(
        originalTransactionId: id, webOrderLineItemId: transaction?.webOrderLineItemId,
        success: true, effectiveDate: transaction?.expiresDate))
  }

  @Sendable private func extendAll(_ request: Request) async throws -> Response {
    let body = try APIBody(request)
    let plan = try plan(body)
    let product = try body.text("productId", or: .invalidProductId)
    var storefronts: [String]?
    if body.has("storefrontCountryCodes") {
      let codes = try body.texts("storefrontCountryCodes", or: .invalidStorefrontCountryCode)
      guard !codes.isEmpty else { throw APIRefusal(.invalidEmptyStorefrontCountryCodeList) }
      guard codes.allSatisfy({ Storefront.of($0) != nil }) else {
        throw APIRefusal(.invalidStorefrontCountryCode)
      }
      storefronts = codes
    }
    let chosen = storefronts
    try simulator.performAll { ledger, now in
      try ledger.extendAll(of: product, in: chosen, plan, at: now)
    }
    return .json(["requestIdentifier": plan.requestIdentifier])
  }

  private struct Status: Encodable {
    let requestIdentifier: String
    let complete: Bool
    let completeDate: Int64
    let succeededCount: Int64
    let failedCount: Int64
  }

  @Sendable private func status(_ request: Request) async throws -> Response {
    let name = "\(request.parameter("productId"))/\(request.parameter("requestIdentifier"))"
    let known = try simulator.read { $0.massExtensions[name] }
    guard let known else { throw APIRefusal(.statusRequestNotFound) }
    return .json(
      Status(
        requestIdentifier: known.requestIdentifier, complete: true,
        completeDate: known.completeDate, succeededCount: known.succeededCount,
        failedCount: known.failedCount))
  }

  private func plan(_ body: APIBody) throws(APIRefusal) -> ExtensionPlan {
    let days = try body.number("extendByDays", in: 1...90, or: .invalidExtendByDays)
    _ = try body.number("extendReasonCode", in: 0...3, or: .invalidExtendReasonCode)
    let identifier = try body.text("requestIdentifier", or: .invalidRequestIdentifier)
    guard (1...128).contains(identifier.count) else {
      throw APIRefusal(.invalidRequestIdentifier)
    }
    return ExtensionPlan(days: days, requestIdentifier: identifier)
  }
}
