// Codes 400: the request is wrong.
extension APIErrorCode {
  /// Bad request.
  public static let generalBadRequest = APIErrorCode(rawValue: 4_000_000)

  /// Invalid request app identifier.
  public static let invalidAppIdentifier = APIErrorCode(rawValue: 4_000_002)

  /// Invalid request limit.
  public static let invalidLimit = APIErrorCode(rawValue: 4_000_004)

  /// Invalid request revision.
  public static let invalidRequestRevision = APIErrorCode(rawValue: 4_000_005)

  /// Invalid transaction id.
  public static let invalidTransactionId = APIErrorCode(rawValue: 4_000_006)

  /// Invalid original transaction id.
  public static let invalidOriginalTransactionId = APIErrorCode(rawValue: 4_000_008)

  /// Invalid extend by days value.
  public static let invalidExtendByDays = APIErrorCode(rawValue: 4_000_009)

  /// Invalid extend reason code.
  public static let invalidExtendReasonCode = APIErrorCode(rawValue: 4_000_010)

  /// Invalid request identifier.
  public static let invalidRequestIdentifier = APIErrorCode(rawValue: 4_000_011)

  /// The start date is earlier than the allowed start date.
  public static let startDateTooFarInPast = APIErrorCode(rawValue: 4_000_012)

  /// The end date precedes the start date or the dates are the same.
  public static let startDateAfterEndDate = APIErrorCode(rawValue: 4_000_013)

  /// The pagination token is invalid.
  public static let invalidPaginationToken = APIErrorCode(rawValue: 4_000_014)

  /// The start date is not a timestamp value represented in milliseconds.
  public static let invalidStartDate = APIErrorCode(rawValue: 4_000_015)

  /// The end date is not a timestamp value represented in milliseconds.
  public static let invalidEndDate = APIErrorCode(rawValue: 4_000_016)

  /// The pagination token is expired.
  public static let paginationTokenExpired = APIErrorCode(rawValue: 4_000_017)

  /// The notification type or subtype is invalid.
  public static let invalidNotificationType = APIErrorCode(rawValue: 4_000_018)

  /// Supply either a transaction id or a notification type, but not both.
  public static let multipleFiltersSupplied = APIErrorCode(rawValue: 4_000_019)

  /// The test notification token is invalid.
  public static let invalidTestNotificationToken = APIErrorCode(rawValue: 4_000_020)

  /// The sort parameter is invalid.
  public static let invalidSort = APIErrorCode(rawValue: 4_000_021)

  /// The product type parameter is invalid.
  public static let invalidProductType = APIErrorCode(rawValue: 4_000_022)

  /// The product id parameter is invalid.
  public static let invalidProductId = APIErrorCode(rawValue: 4_000_023)

  /// The subscription group identifier parameter is invalid.
  public static let invalidSubscriptionGroupIdentifier = APIErrorCode(rawValue: 4_000_024)

  /// The exclude revoked parameter is invalid.
  public static let invalidExcludeRevoked = APIErrorCode(rawValue: 4_000_025)

  /// The in-app ownership type parameter is invalid.
  public static let invalidInAppOwnershipType = APIErrorCode(rawValue: 4_000_026)

  /// If provided, the list of storefront country codes must not be empty.
  public static let invalidEmptyStorefrontCountryCodeList = APIErrorCode(rawValue: 4_000_027)

  /// A storefront country code was invalid.
  public static let invalidStorefrontCountryCode = APIErrorCode(rawValue: 4_000_028)

  /// The revoked parameter is invalid.
  public static let invalidRevoked = APIErrorCode(rawValue: 4_000_030)

  /// The status parameter is invalid.
  public static let invalidStatus = APIErrorCode(rawValue: 4_000_031)

  /// The account tenure field is invalid.
  public static let invalidAccountTenure = APIErrorCode(rawValue: 4_000_032)

  /// The app account token field must contain a valid UUID or an empty string.
  public static let invalidAppAccountToken = APIErrorCode(rawValue: 4_000_033)

  /// The consumption status field is invalid.
  public static let invalidConsumptionStatus = APIErrorCode(rawValue: 4_000_034)

  /// The customer consented field is required and must indicate the customer consented.
  public static let invalidCustomerConsented = APIErrorCode(rawValue: 4_000_035)

  /// The delivery status field is invalid.
  public static let invalidDeliveryStatus = APIErrorCode(rawValue: 4_000_036)

  /// The lifetime dollars purchased field is invalid.
  public static let invalidLifetimeDollarsPurchased = APIErrorCode(rawValue: 4_000_037)

  /// The lifetime dollars refunded field is invalid.
  public static let invalidLifetimeDollarsRefunded = APIErrorCode(rawValue: 4_000_038)

  /// The platform field is invalid.
  public static let invalidPlatform = APIErrorCode(rawValue: 4_000_039)

  /// The playtime field is invalid.
  public static let invalidPlayTime = APIErrorCode(rawValue: 4_000_040)

  /// The sample content provided field is invalid.
  public static let invalidSampleContentProvided = APIErrorCode(rawValue: 4_000_041)

  /// The user status field is invalid.
  public static let invalidUserStatus = APIErrorCode(rawValue: 4_000_042)

  /// The transaction id parameter must represent a consumable in-app purchase.
  public static let invalidTransactionNotConsumable = APIErrorCode(rawValue: 4_000_043)

  /// The refund preference field is invalid.
  public static let invalidRefundPreference = APIErrorCode(rawValue: 4_000_044)

  /// The transaction id doesn't represent a supported in-app purchase type.
  public static let invalidTransactionTypeNotSupported = APIErrorCode(rawValue: 4_000_047)

  /// App transactions aren't supported by this endpoint.
  public static let appTransactionIdNotSupported = APIErrorCode(rawValue: 4_000_048)

  /// The app account token field must be a valid UUID.
  public static let invalidAppAccountTokenUUID = APIErrorCode(rawValue: 4_000_183)

  /// Family Sharing transactions aren't supported by this endpoint.
  public static let familyTransactionNotSupported = APIErrorCode(rawValue: 4_000_185)

  /// The transaction ID provided is not an original transaction ID.
  public static let transactionIdIsNotOriginalTransactionId = APIErrorCode(rawValue: 4_000_187)
}
