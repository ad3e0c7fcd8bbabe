// Codes 403 to 500: the request is well formed, but what it asks for cannot be.
extension APIErrorCode {
  /// Forbidden - subscription state ineligible for extension.
  public static let subscriptionExtensionIneligible = APIErrorCode(rawValue: 4_030_004)

  /// Forbidden - subscription has reached maximum extension count.
  public static let subscriptionMaxExtension = APIErrorCode(rawValue: 4_030_005)

  /// Subscriptions that users obtain through Family Sharing can't get a renewal date extension
  /// directly.
  public static let familySharedSubscriptionExtensionIneligible = APIErrorCode(rawValue: 4_030_007)

  /// Account not found.
  public static let accountNotFound = APIErrorCode(rawValue: 4_040_001)

  /// Account not found.
  ///
  /// Please try again.
  public static let accountNotFoundRetryable = APIErrorCode(rawValue: 4_040_002)

  /// App not found.
  public static let appNotFound = APIErrorCode(rawValue: 4_040_003)

  /// App not found.
  ///
  /// Please try again.
  public static let appNotFoundRetryable = APIErrorCode(rawValue: 4_040_004)

  /// Original transaction id not found.
  public static let originalTransactionIdNotFound = APIErrorCode(rawValue: 4_040_005)

  /// Original transaction id not found.
  ///
  /// Please try again.
  public static let originalTransactionIdNotFoundRetryable = APIErrorCode(rawValue: 4_040_006)

  /// No App Store Server Notification URL found for provided app.
  ///
  /// Check that a URL is configured in App Store Connect for this environment.
  public static let serverNotificationURLNotFound = APIErrorCode(rawValue: 4_040_007)

  /// Either the test notification token is expired or the notification and status are not yet
  /// available.
  public static let testNotificationNotFound = APIErrorCode(rawValue: 4_040_008)

  /// The server didn't find a subscription-renewal-date extension request for this
  /// requestIdentifier and productId combination.
  public static let statusRequestNotFound = APIErrorCode(rawValue: 4_040_009)

  /// Transaction id not found.
  public static let transactionIdNotFound = APIErrorCode(rawValue: 4_040_010)

  /// No AppTransaction exists for the customer.
  public static let appTransactionDoesNotExist = APIErrorCode(rawValue: 4_040_019)

  /// Group not found.
  public static let groupNotFound = APIErrorCode(rawValue: 4_040_022)

  /// Rate limit exceeded.
  public static let rateLimitExceeded = APIErrorCode(rawValue: 4_290_000)

  /// An unknown error occurred.
  public static let generalInternal = APIErrorCode(rawValue: 5_000_000)

  /// An unknown error occurred.
  ///
  /// Please try again.
  public static let generalInternalRetryable = APIErrorCode(rawValue: 5_000_001)
}
