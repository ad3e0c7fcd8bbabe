import AppStore
import Cryptography
import HTTPServer

/// Endpoints about notifications: their history, and the one for trying the URL.
struct NotificationAPI: Sendable {
  let api: StoreAPI

  private var simulator: Simulator { api.simulator }

  func add(to router: inout Router) {
    api.on(
      .notificationHistory, .post, "/inApps/v1/notifications/history", &router, history)
    api.on(.testNotification, .post, "/inApps/v1/notifications/test", &router) { _ in
      guard simulator.mail({ $0.rules.hasURL }) else {
        throw APIRefusal(.serverNotificationURLNotFound)
      }
      let outcome = try simulator.perform { _, now in Happening.test(at: now) }
      let now = simulator.clock.now()
      return .json(["testNotificationToken": "\(outcome.notificationUUID ?? "")_\(now)"])
    }
    api.on(
      .testNotificationStatus, .get, "/inApps/v1/notifications/test/{token}", &router
    ) { request in
      let token = request.parameter("token")
      guard let uuid = token.split(separator: "_").first.flatMap({ UUIDs.normalized(String($0)) })
      else { throw APIRefusal(.invalidTestNotificationToken) }
      guard let delivery = simulator.mail({ $0.delivery(uuid) }), !delivery.attempts.isEmpty,
        delivery.happening.type == .test
      else { throw APIRefusal(.testNotificationNotFound) }
      return .json(try Sent(delivery, simulator))
    }
  }

  private struct Sent: Encodable {
    struct Attempt: Encodable {
      let attemptDate: Int64
      let sendAttemptResult: SendAttemptResult
    }

    let signedPayload: String
    let sendAttempts: [Attempt]

    init(_ delivery: Delivery, _ simulator: Simulator) throws {
      signedPayload = try simulator.signedPayload(of: delivery)
      sendAttempts = delivery.attempts.prefix(6).map {
        Attempt(attemptDate: $0.attemptDate, sendAttemptResult: $0.sendAttemptResult)
      }
    }
  }

  private struct History: Encodable {
    let paginationToken: String?
    let hasMore: Bool
    let notificationHistory: [Sent]
  }

  @Sendable private func history(_ request: Request) async throws -> Response {
    let query = try HistoryOfNotifications(try APIBody(request), now: simulator.clock.now())
    let after = try HistoryFilter.change(token: request.query["paginationToken"], query.fingerprint)
    let transactionId = query.transactionId
    let lineage: String? = try transactionId.map { id in
      try simulator.read { ledger in String(try ledger.apiCharge(id).originalId) }
    }
    let fitting = simulator.mail { mailbox in
      mailbox.all.filter { $0.number > after && query.fits($0, lineage: lineage) }
    }
    let page = Array(fitting.prefix(StoreAPI.pageSize))
    let hasMore = fitting.count > page.count
    return .json(
      History(
        paginationToken: page.last.map { HistoryFilter.revision($0.number, query.fingerprint) },
        hasMore: hasMore, notificationHistory: try page.map { try Sent($0, simulator) }))
  }
}

extension HistoryFilter {
  /// The place that a pagination token names; 0 for the first page.
  static func change(token: String?, _ fingerprint: String) throws(APIRefusal) -> UInt64 {
    do {
      return try change(token, fingerprint) ?? 0
    } catch {
      throw APIRefusal(.invalidPaginationToken)
    }
  }
}

/// The body of a request for the notification history.
struct HistoryOfNotifications: Sendable {
  let transactionId: String?
  /// A pagination token is good for the same query only.
  let fingerprint: String
  private let start: Int64
  private let end: Int64
  private let type: String?
  private let subtype: String?
  private let isOnlyFailures: Bool

  /// Apple keeps notifications for 180 days.
  private static let kept: Int64 = 180 * 86_400_000
  private static let dates: ClosedRange<Int64> = 0...4_102_444_800_000_000

  init(_ body: APIBody, now: Int64) throws(APIRefusal) {
    start = try body.number("startDate", in: Self.dates, or: .invalidStartDate)
    end = try body.number("endDate", in: Self.dates, or: .invalidEndDate)
    guard start < end else { throw APIRefusal(.startDateAfterEndDate) }
    guard start >= now - Self.kept else { throw APIRefusal(.startDateTooFarInPast) }
    type =
      body.has("notificationType")
      ? try body.text("notificationType", or: .invalidNotificationType) : nil
    subtype =
      body.has("notificationSubtype")
      ? try body.text("notificationSubtype", or: .invalidNotificationType) : nil
    transactionId =
      body.has("transactionId") ? try body.text("transactionId", or: .invalidTransactionId) : nil
    guard type == nil || transactionId == nil else { throw APIRefusal(.multipleFiltersSupplied) }
    guard NotificationPairs.isValid(type, subtype) else {
      throw APIRefusal(.invalidNotificationType)
    }
    isOnlyFailures =
      body.has("onlyFailures") ? try body.truth("onlyFailures", or: .generalBadRequest) : false
    let words = [type, subtype, transactionId].map { $0 ?? "" }
    let whole = "\(start)\n\(end)\n\(words)\n\(isOnlyFailures)"
    fingerprint = String(SHA256.hex(whole).prefix(12))
  }

  /// - Parameter lineage: The lineage of `transactionId`.
  func fits(_ delivery: Delivery, lineage: String?) -> Bool {
    let happening = delivery.happening
    // A notification that is still to be tried was not sent; one without a URL never will be.
    return !delivery.attempts.isEmpty && happening.at >= start && happening.at <= end
      && (type.map { $0 == happening.type.rawValue } ?? true)
      && (subtype.map { $0 == happening.subtype?.rawValue } ?? true)
      && (lineage.map { $0 == happening.lineage } ?? true)
      && (!isOnlyFailures || delivery.state != .delivered)
  }
}

/// Which subtypes a type of notification may have.
enum NotificationPairs {
  private static let subtypes: [NotificationType: [NotificationSubtype]] = [
    .subscribed: [.initialBuy, .resubscribe], .didRenew: [.billingRecovery],
    .didChangeRenewalPref: [.upgrade, .downgrade],
    .didChangeRenewalStatus: [.autoRenewEnabled, .autoRenewDisabled],
    .offerRedeemed: [.upgrade, .downgrade], .didFailToRenew: [.gracePeriod],
    .gracePeriodExpired: [],
    .expired: [
      .voluntary, .billingRetry, .priceIncrease,
      .productNotForSale,
    ], .priceIncrease: [.pending, .accepted], .refund: [.seats],
    .refundDeclined: [], .refundReversed: [], .consumptionRequest: [], .revoke: [],
    .renewalExtended: [], .renewalExtension: [.summary, .failure], .oneTimeCharge: [],
    .test: [], .externalPurchaseToken: [.unreported, .created, .activeTokenReminder],
    .rescindConsent: [], .metadataUpdate: [], .migration: [], .priceChange: [],
    .unclaimSeats: [],
  ]

  static func isValid(_ type: String?, _ subtype: String?) -> Bool {
    guard let type else { return subtype == nil }
    guard let known = subtypes[NotificationType(rawValue: type)] else { return false }
    return subtype.map { known.contains(NotificationSubtype(rawValue: $0)) } ?? true
  }
}
