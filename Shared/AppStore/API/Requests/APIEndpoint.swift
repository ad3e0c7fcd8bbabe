/// An endpoint of the App Store Server API, which has a rate limit of its own for each app.
public enum APIEndpoint: String, Sendable, CaseIterable {
  /// One transaction by its id.
  case transactionInfo = "transaction-info"
  /// All transactions of a customer.
  case transactionHistory = "transaction-history"
  /// The same without finished consumables; deprecated.
  case transactionHistoryV1 = "transaction-history-v1"
  /// The app transaction of a customer.
  case appTransactionInfo = "app-transaction-info"
  /// The state of a customer's subscriptions.
  case subscriptionStatuses = "subscription-statuses"
  /// Refunded transactions of a customer.
  case refundHistory = "refund-history"
  /// The same, at most 50; deprecated.
  case refundHistoryV1 = "refund-history-v1"
  /// Transactions of an order id; not in the sandbox.
  case orderLookup = "order-lookup"
  /// Information for a refund request.
  case consumption
  /// The same with more fields; only Advanced Commerce now.
  case consumptionV1 = "consumption-v1"
  /// Sets the app account token.
  case appAccountToken = "app-account-token"
  /// Finishes a transaction.
  case finish
  /// Extends one subscription.
  case extendRenewal = "extend-renewal"
  /// Extends all subscriptions of a product.
  case massExtension = "mass-extension"
  /// How far such an extension is.
  case massExtensionStatus = "mass-extension-status"
  /// Notifications of the last 180 days.
  case notificationHistory = "notification-history"
  /// Asks for a test notification.
  case testNotification = "test-notification"
  /// What came of a test notification.
  case testNotificationStatus = "test-notification-status"

  /// Requests per second that Apple allows an app in production (reference §4.7); the sandbox
  /// allows a tenth.
  ///
  /// None is documented for the state of a mass extension: it takes the lowest.
  public var requestsPerSecond: Double {
    switch self {
    case .transactionInfo, .appTransactionInfo, .transactionHistory, .transactionHistoryV1,
      .subscriptionStatuses, .consumption, .consumptionV1, .notificationHistory, .finish:
      50
    case .extendRenewal, .appAccountToken: 20
    case .orderLookup, .refundHistory, .refundHistoryV1: 10
    case .massExtension, .massExtensionStatus, .testNotification, .testNotificationStatus: 1
    }
  }
}
