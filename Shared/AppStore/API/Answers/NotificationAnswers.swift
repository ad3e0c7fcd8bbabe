/// A page of the notification history.
public struct NotificationHistoryAnswer: Payload, Equatable {
  /// Where to go on.
  public var paginationToken: String?
  /// Whether there is a next page.
  public var hasMore = false
  /// At most 20 notifications, as they were sent; not the state of today.
  public var notificationHistory: [SentNotification] = []

  /// An empty page, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    paginationToken = try fields.string("paginationToken")
    hasMore = try fields.bool("hasMore") ?? false
    notificationHistory = try fields.objects("notificationHistory") ?? []
  }
}

/// A notification and what became of it; also the answer about a test notification.
public struct SentNotification: Payload, Equatable {
  /// The notification as JWS.
  public var signedPayload: String?
  /// At most six.
  public var sendAttempts: [NotificationSendAttempt] = []

  /// An empty entry, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    signedPayload = try fields.string("signedPayload")
    sendAttempts = try fields.objects("sendAttempts") ?? []
  }
}

/// What came of a test notification.
public typealias TestNotificationStatusAnswer = SentNotification

/// One attempt of Apple to deliver a notification.
public struct NotificationSendAttempt: Payload, Equatable {
  /// When, UNIX milliseconds.
  public var attemptDate: Int64?
  /// How it ended.
  public var sendAttemptResult: NotificationSendResult?

  /// An empty attempt, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    attemptDate = try fields.milliseconds("attemptDate")
    sendAttemptResult = try fields.value("sendAttemptResult")
  }
}

/// Answer of Request a Test Notification.
public struct TestNotificationAnswer: Payload, Equatable {
  /// Names the notification when its outcome is asked for.
  public var testNotificationToken: String

  /// Makes an answer.
  public init(testNotificationToken: String) { self.testNotificationToken = testNotificationToken }

  /// Reads the answer; throws if the token is missing.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    testNotificationToken = try fields.needed("testNotificationToken", fields.string)
  }
}

/// How an attempt of Apple to deliver a notification ended.
public struct NotificationSendResult: OpenVocabulary {
  /// The value as received.
  public let rawValue: String

  /// Wraps a value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// `SUCCESS`.
  public static let success = NotificationSendResult(rawValue: "SUCCESS")
  /// `TIMED_OUT`.
  public static let timedOut = NotificationSendResult(rawValue: "TIMED_OUT")
  /// `TLS_ISSUE`; older: `SSL_ISSUE`.
  public static let tlsIssue = NotificationSendResult(rawValue: "TLS_ISSUE")
  /// `CIRCULAR_REDIRECT`.
  public static let circularRedirect = NotificationSendResult(rawValue: "CIRCULAR_REDIRECT")
  /// `NO_RESPONSE`.
  public static let noResponse = NotificationSendResult(rawValue: "NO_RESPONSE")
  /// `SOCKET_ISSUE`.
  public static let socketIssue = NotificationSendResult(rawValue: "SOCKET_ISSUE")
  /// `UNSUPPORTED_CHARSET`.
  public static let unsupportedCharset = NotificationSendResult(rawValue: "UNSUPPORTED_CHARSET")
  /// `INVALID_RESPONSE`.
  public static let invalidResponse = NotificationSendResult(rawValue: "INVALID_RESPONSE")
  /// `PREMATURE_CLOSE`.
  public static let prematureClose = NotificationSendResult(rawValue: "PREMATURE_CLOSE")
  /// `UNSUCCESSFUL_HTTP_RESPONSE_CODE`.
  public static let unsuccessfulStatus = NotificationSendResult(
    rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
  /// `OTHER`.
  public static let other = NotificationSendResult(rawValue: "OTHER")
}
