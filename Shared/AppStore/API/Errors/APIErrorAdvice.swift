extension APIErrorCode {
  /// What to do about it, for a person.
  public var advice: String {
    Self.advices[self] ?? "Apple's documentation of error codes tells more about \(rawValue)."
  }

  private static let advices: [APIErrorCode: String] = {
    var advices: [APIErrorCode: String] = [:]
    for (codes, advice) in groups { for code in codes { advices[code] = advice } }
    return advices
  }()

  private static let groups: [([APIErrorCode], String)] = [
    ([.generalBadRequest], "Compare the request with Apple's documentation; do not repeat it."),
    (
      [.invalidAppIdentifier, .appNotFound],
      "Check the bundle id in purser.json, and that the app exists in this environment."
    ),
    (
      [.invalidTransactionId, .invalidOriginalTransactionId],
      "The id has the wrong form; take it from signed data, never from a receipt's file name."
    ),
    (
      [.transactionIdIsNotOriginalTransactionId],
      "Give the lineage's originalTransactionId to this endpoint, not a renewal's transactionId."
    ),
    (
      [.appTransactionIdNotSupported],
      "Give a transactionId; an appTransactionId names the customer, not a purchase."
    ),
    (
      [.transactionIdNotFound, .originalTransactionIdNotFound],
      "The id is unknown in this environment: ask the other one if the app allows it; grant nothing."
    ),
    ([.accountNotFound], "The customer's account is gone; ask no more and keep what is known."),
    (
      [
        .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
        .generalInternalRetryable,
      ],
      "Try again after a pause; Apple says that it may pass."
    ),
    ([.generalInternal], "Apple's fault; ask again later, in minutes rather than seconds."),
    (
      [.rateLimitExceeded],
      "Wait until the time of Retry-After; lower the share of the limits if others use this app's key."
    ),
    (
      [.invalidRequestRevision],
      "Start again without a revision, with the same query as before."
    ),
    (
      [.invalidPaginationToken, .paginationTokenExpired],
      "Start the notification history again from its first page, with an overlap."
    ),
    (
      [.startDateTooFarInPast],
      "Move the start date: Apple keeps notifications for 180 days."
    ),
    (
      [.startDateAfterEndDate, .invalidStartDate, .invalidEndDate],
      "Give both dates in UNIX milliseconds, the start before the end."
    ),
    (
      [.invalidNotificationType, .multipleFiltersSupplied],
      "Give either a transaction id or a notification type; a subtype needs its type."
    ),
    (
      [
        .invalidLimit, .invalidSort, .invalidProductType, .invalidSubscriptionGroupIdentifier,
        .invalidExcludeRevoked, .invalidInAppOwnershipType, .invalidRevoked, .invalidStatus,
      ],
      "Correct this part of the query; its values stand in Apple's documentation."
    ),
    ([.invalidProductId], "Check the product id against App Store Connect and the catalog."),
    ([.invalidExtendByDays], "Extend by 1 to 90 days."),
    ([.invalidExtendReasonCode], "Give a reason code from 0 to 3."),
    (
      [.invalidRequestIdentifier],
      "Give a request identifier of 1 to 128 characters, a new UUID for each new request."
    ),
    (
      [.invalidEmptyStorefrontCountryCodeList, .invalidStorefrontCountryCode],
      "Leave the list out for all storefronts, or give three-letter codes such as USA."
    ),
    (
      [.subscriptionExtensionIneligible],
      "Only an active subscription with a paid period can be extended; look at its status."
    ),
    ([.subscriptionMaxExtension], "Two extensions within 365 days are all; try no more before."),
    (
      [.familySharedSubscriptionExtensionIneligible],
      "Extend the purchaser's subscription; the family follows it."
    ),
    (
      [.statusRequestNotFound],
      "Check the product id and the request identifier of the mass extension."
    ),
    (
      [.serverNotificationURLNotFound],
      "Enter the notification URL for this environment in App Store Connect, version 2."
    ),
    (
      [.invalidTestNotificationToken],
      "Ask for a new test notification and use the token of that answer."
    ),
    (
      [.testNotificationNotFound],
      "Ask again in a few seconds; after that, ask for a new test notification."
    ),
    (
      [.appTransactionDoesNotExist],
      "The customer has no app transaction in this environment; there is nothing to fetch."
    ),
    ([.groupNotFound], "Check the group id."),
    (
      [.invalidAppAccountToken, .invalidAppAccountTokenUUID],
      "Give the app account token as a UUID, the order's id."
    ),
    (
      [.familyTransactionNotSupported],
      "Set the token on the purchaser's transaction; a family member's cannot bear one."
    ),
    (
      [.invalidCustomerConsented],
      "Send consumption information only with the customer's consent."
    ),
    (
      [.invalidTransactionTypeNotSupported, .invalidTransactionNotConsumable],
      "This endpoint does not take that type of product; send consumption through version 2."
    ),
    (
      [
        .invalidAccountTenure, .invalidConsumptionStatus, .invalidDeliveryStatus,
        .invalidLifetimeDollarsPurchased, .invalidLifetimeDollarsRefunded, .invalidPlatform,
        .invalidPlayTime, .invalidSampleContentProvided, .invalidUserStatus,
        .invalidRefundPreference,
      ],
      "Correct this field of the consumption information; its values stand in Apple's documentation."
    ),
  ]
}
