/// Which notifications of the last 180 days are asked for.
public struct NotificationHistoryQuery: Sendable, Equatable {
  /// Sent at this time or later, UNIX milliseconds.
  public var startDate: Int64
  /// Sent before this time, UNIX milliseconds; a time to come means now.
  public var endDate: Int64
  /// One type only.
  public var notificationType: NotificationType?
  /// One subtype only; needs its type.
  public var notificationSubtype: NotificationSubtype?
  /// One transaction only; not together with a type.
  public var transactionId: String?
  /// Only those that did not reach the server at first.
  public var isOnlyFailures: Bool?

  /// All notifications of a time.
  public init(startDate: Int64, endDate: Int64) {
    self.startDate = startDate
    self.endDate = endDate
  }

  func check() throws(APIError) {
    guard startDate < endDate else {
      throw RequestParts.bad("startDate", "startDate must lie before endDate")
    }
    guard notificationSubtype == nil || notificationType != nil else {
      throw RequestParts.bad("notificationSubtype", "a notificationSubtype needs its type")
    }
    guard transactionId == nil || notificationType == nil else {
      throw RequestParts.bad(
        "transactionId", "give either a transactionId or a notificationType, not both")
    }
  }
}

extension NotificationHistoryQuery: Encodable {
  private enum CodingKeys: String, CodingKey {
    case startDate, endDate, notificationType, notificationSubtype, transactionId
    case isOnlyFailures = "onlyFailures"
  }
}

extension APIRequest where Answer == NotificationHistoryAnswer {
  /// Get Notification History: one page.
  ///
  /// - Parameter paginationToken: Of the page before, with the same query; nil for the first page.
  public static func notificationHistory(
    _ query: NotificationHistoryQuery, paginationToken: String? = nil
  ) throws(APIError) -> Self {
    try query.check()
    return APIRequest(
      .notificationHistory, "POST", "/inApps/v1/notifications/history",
      query: paginationToken.map { [("paginationToken", $0)] } ?? [],
      body: try RequestParts.json(query))
  }
}

extension APIRequest where Answer == TestNotificationAnswer {
  /// Request a Test Notification.
  public static func testNotification() -> Self {
    APIRequest(.testNotification, "POST", "/inApps/v1/notifications/test")
  }
}

extension APIRequest where Answer == TestNotificationStatusAnswer {
  /// What came of a test notification.
  public static func testNotificationStatus(_ token: String) throws(APIError) -> Self {
    let token = try RequestParts.segment(token, "testNotificationToken")
    return APIRequest(
      .testNotificationStatus, "GET", "/inApps/v1/notifications/test/\(token)")
  }
}
