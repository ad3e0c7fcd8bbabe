import AppStore

/// What the App Store says with each of its error codes (App Store Server API 1.21).
enum APIMessages {
  static func message(_ code: APIErrorCode) -> String { all[code] ?? "An unknown error occurred." }

  private static let all: [APIErrorCode: String] = requests.merging(state) { first, _ in first }

  private static let requests: [APIErrorCode: String] = [
    .generalBadRequest: "Bad request.",
    .invalidAppIdentifier: "Invalid request app identifier.",
    .invalidLimit: "Invalid request limit.",
    .invalidRequestRevision: "Invalid request revision.",
    .invalidTransactionId: "Invalid transaction id.",
    .invalidOriginalTransactionId: "Invalid original transaction id.",
    .invalidExtendByDays: "Invalid extend by days value.",
    .invalidExtendReasonCode: "Invalid extend reason code.",
    .invalidRequestIdentifier: "Invalid request identifier.",
    .startDateTooFarInPast:
      "Invalid request. The start date is earlier than the allowed start date. "
      + "",
    .startDateAfterEndDate:
      "Invalid request. The end date precedes the start date or the dates are the same. "
      + "",
    .invalidPaginationToken: "Invalid request. The pagination token is invalid.",
    .invalidStartDate:
      "Invalid request. The start date is not a timestamp value represented in "
      + "milliseconds.",
    .invalidEndDate:
      "Invalid request. The end date is not a timestamp value represented in "
      + "milliseconds.",
    .paginationTokenExpired: "Invalid request. The pagination token is expired.",
    .invalidNotificationType: "Invalid request. The notification type or subtype is invalid.",
    .multipleFiltersSupplied:
      "Invalid request. Supply either a transaction id or a notification type, but not "
      + "both.",
    .invalidTestNotificationToken: "Invalid request. The test notification token is invalid.",
    .invalidSort: "Invalid request. The sort parameter is invalid.",
    .invalidProductType: "Invalid request. The product type parameter is invalid.",
    .invalidProductId: "Invalid request. The product id parameter is invalid.",
    .invalidSubscriptionGroupIdentifier:
      "Invalid request. The subscription group identifier parameter is invalid. "
      + "",
    .invalidExcludeRevoked: "Invalid request. The exclude revoked parameter is invalid.",
    .invalidInAppOwnershipType: "Invalid request. The in-app ownership type parameter is invalid.",
    .invalidEmptyStorefrontCountryCodeList:
      "Invalid request. If provided, the list of storefront country codes must not be "
      + "empty.",
    .invalidStorefrontCountryCode: "Invalid request. A storefront country code was invalid.",
    .invalidRevoked: "Invalid request. The revoked parameter is invalid.",
    .invalidStatus: "Invalid request. The status parameter is invalid.",
    .invalidAccountTenure: "Invalid request. The account tenure field is invalid.",
    .invalidAppAccountToken:
      "Invalid request. The app account token field must contain a valid UUID or an "
      + "empty string.",
    .invalidConsumptionStatus: "Invalid request. The consumption status field is invalid.",
    .invalidCustomerConsented:
      "Invalid request. The customer consented field is required and must indicate the "
      + "customer consented.",
    .invalidDeliveryStatus: "Invalid request. The delivery status field is invalid.",
    .invalidLifetimeDollarsPurchased:
      "Invalid request. The lifetime dollars purchased field is invalid. "
      + "",
    .invalidLifetimeDollarsRefunded:
      "Invalid request. The lifetime dollars refunded field is invalid. "
      + "",
    .invalidPlatform: "Invalid request. The platform field is invalid.",
    .invalidPlayTime: "Invalid request. The playtime field is invalid.",
    .invalidSampleContentProvided: "Invalid request. The sample content provided field is invalid.",
    .invalidUserStatus: "Invalid request. The user status field is invalid.",
    .invalidTransactionNotConsumable:
      "Invalid request. The transaction id parameter must represent a consumable in-app "
      + "purchase.",
    .invalidRefundPreference: "Invalid request. The refund preference field is invalid.",
    .invalidTransactionTypeNotSupported:
      "Invalid request. The transaction id doesn't represent a supported in-app "
      + "purchase type.",
    .appTransactionIdNotSupported:
      "Invalid request. App transactions aren't supported by this endpoint. "
      + "",
    .invalidAppAccountTokenUUID:
      "Invalid request. The app account token field must be a valid UUID. "
      + "",
    .familyTransactionNotSupported:
      "Invalid request. Family Sharing transactions aren't supported by this endpoint. "
      + "",
    .transactionIdIsNotOriginalTransactionId:
      "Invalid request. The transaction ID provided is not an original transaction ID. "
      + "",
  ]

  private static let state: [APIErrorCode: String] = [
    .subscriptionExtensionIneligible: "Forbidden - subscription state ineligible for extension.",
    .subscriptionMaxExtension: "Forbidden - subscription has reached maximum extension count.",
    .familySharedSubscriptionExtensionIneligible:
      "Subscriptions that users obtain through Family Sharing can't get a renewal date "
      + "extension directly.",
    .accountNotFound: "Account not found.",
    .accountNotFoundRetryable: "Account not found. Please try again.",
    .appNotFound: "App not found.",
    .appNotFoundRetryable: "App not found. Please try again.",
    .originalTransactionIdNotFound: "Original transaction id not found.",
    .originalTransactionIdNotFoundRetryable: "Original transaction id not found. Please try again.",
    .serverNotificationURLNotFound:
      "No App Store Server Notification URL found for provided app. Check that a URL is "
      + "configured in App Store Connect for this environment.",
    .testNotificationNotFound:
      "Either the test notification token is expired or the notification and status are "
      + "not yet available.",
    .statusRequestNotFound:
      "The server didn't find a subscription-renewal-date extension request for this "
      + "requestIdentifier and productId combination.",
    .transactionIdNotFound: "Transaction id not found.",
    .appTransactionDoesNotExist: "No AppTransaction exists for the customer.",
    .groupNotFound: "Group not found.",
    .rateLimitExceeded: "Rate limit exceeded.",
    .generalInternal: "An unknown error occurred.",
    .generalInternalRetryable: "An unknown error occurred. Please try again.",
  ]
}
