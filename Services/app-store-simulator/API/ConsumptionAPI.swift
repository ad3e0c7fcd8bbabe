import AppStore
import Cryptography
import HTTPServer

/// What a service tells about the use of a purchase whose money the customer wants back.
struct ConsumptionAPI: Sendable {
  let api: StoreAPI

  func add(to router: inout Router) {
    api.on(
      .consumption, .put, "/inApps/v2/transactions/consumption/{id}", &router
    ) { request in
      try take(request, try version2(APIBody(request)))
    }
    api.on(
      .consumptionV1, .put, "/inApps/v1/transactions/consumption/{id}", &router
    ) { request in
      try take(request, try version1(APIBody(request)))
    }
  }

  private func take(_ request: Request, _ report: ConsumptionReport) throws -> Response {
    let id = request.parameter("id")
    try api.simulator.performAll { ledger, _ in
      let charge = try ledger.apiCharge(id)
      let type = ledger.payload(of: charge).type
      let isSupported = report.version == 2 || type == .consumable || type == .autoRenewable
      guard isSupported else { throw APIRefusal(.invalidTransactionTypeNotSupported) }
      ledger.report(report, of: charge)
      return []
    }
    return Response(status: 202)
  }

  private static let statuses = [
    "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
    "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
  ]

  private func version2(_ body: APIBody) throws(APIRefusal) -> ConsumptionReport {
    try checkConsent(body)
    let isSample = try body.truth("sampleContentProvided", or: .invalidSampleContentProvided)
    let status = try body.text("deliveryStatus", or: .invalidDeliveryStatus)
    guard Self.statuses.contains(status) else { throw APIRefusal(.invalidDeliveryStatus) }
    var percentage: Int64?
    if body.has("consumptionPercentage") {
      percentage = try body.number(
        "consumptionPercentage", in: 0...100_000, or: .generalBadRequest)
    }
    var preference: String?
    if body.has("refundPreference") {
      let word = try body.text("refundPreference", or: .invalidRefundPreference)
      guard ["DECLINE", "GRANT_FULL", "GRANT_PRORATED"].contains(word) else {
        throw APIRefusal(.invalidRefundPreference)
      }
      guard word != "GRANT_PRORATED" || (percentage ?? 0) > 0 else {
        throw APIRefusal(.invalidRefundPreference)
      }
      preference = word
    }
    return ConsumptionReport(
      version: 2, at: api.simulator.clock.now(), customerConsented: true,
      sampleContentProvided: isSample, deliveryStatus: status,
      consumptionPercentage: percentage, refundPreference: preference)
  }

  private func version1(_ body: APIBody) throws(APIRefusal) -> ConsumptionReport {
    try checkConsent(body)
    _ = try body.number("accountTenure", in: 0...7, or: .invalidAccountTenure)
    let token = try body.text("appAccountToken", or: .invalidAppAccountToken)
    guard token.isEmpty || UUIDs.normalized(token) != nil else {
      throw APIRefusal(.invalidAppAccountToken)
    }
    _ = try body.number("consumptionStatus", in: 0...3, or: .invalidConsumptionStatus)
    let status = try body.number("deliveryStatus", in: 0...5, or: .invalidDeliveryStatus)
    _ = try body.number(
      "lifetimeDollarsPurchased", in: 0...7, or: .invalidLifetimeDollarsPurchased)
    _ = try body.number(
      "lifetimeDollarsRefunded", in: 0...7, or: .invalidLifetimeDollarsRefunded)
    _ = try body.number("platform", in: 0...2, or: .invalidPlatform)
    _ = try body.number("playTime", in: 0...7, or: .invalidPlayTime)
    let isSample = try body.truth("sampleContentProvided", or: .invalidSampleContentProvided)
    _ = try body.number("userStatus", in: 0...4, or: .invalidUserStatus)
    var preference: String?
    if body.has("refundPreference") {
      preference = String(
        try body.number("refundPreference", in: 0...3, or: .invalidRefundPreference))
    }
    return ConsumptionReport(
      version: 1, at: api.simulator.clock.now(), customerConsented: true,
      sampleContentProvided: isSample, deliveryStatus: String(status), consumptionPercentage: nil,
      refundPreference: preference)
  }

  private func checkConsent(_ body: APIBody) throws(APIRefusal) {
    guard try body.truth("customerConsented", or: .invalidCustomerConsented) else {
      throw APIRefusal(.invalidCustomerConsented)
    }
  }
}
