/// A real-time retention request: `DecodedRealtimeRequestBody`.
public struct RealtimeRequestPayload: Payload, Equatable {
  /// The subscription.
  public var originalTransactionId: String?
  /// The app in the App Store.
  public var appAppleId: Int64?
  /// The product.
  public var productId: String?
  /// Such as `en-US`.
  public var userLocale: String?
  /// UUID of the request.
  public var requestIdentifier: String?
  /// Where it happened.
  public var environment: AppEnvironment?
  /// When Apple signed it, milliseconds.
  public var signedDate: Int64?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    originalTransactionId = try fields.string("originalTransactionId")
    appAppleId = try fields.int64("appAppleId")
    productId = try fields.string("productId")
    userLocale = try fields.string("userLocale")
    requestIdentifier = try fields.string("requestIdentifier")
    environment = try fields.value("environment")
    signedDate = try fields.milliseconds("signedDate")
  }
}
