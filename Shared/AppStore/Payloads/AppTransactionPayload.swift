/// The download of the app: `AppTransaction`.
public struct AppTransactionPayload: Payload, Equatable {
  /// The environment, under another name.
  public var receiptType: AppEnvironment?
  /// The app in the App Store; absent in Xcode.
  public var appAppleId: Int64?
  /// The app.
  public var bundleId: String?
  /// Version of the app now.
  public var applicationVersion: String?
  /// Apple's number of that version.
  public var versionExternalIdentifier: Int64?
  /// When it was signed, milliseconds; there is no `signedDate`.
  public var receiptCreationDate: Int64?
  /// When the app was first got, milliseconds; negative in Xcode.
  public var originalPurchaseDate: Int64?
  /// Version first got; `1.0` in Sandbox.
  public var originalApplicationVersion: String?
  /// Base64 of a SHA-384 over nonce and device id.
  public var deviceVerification: String?
  /// The UUID in that hash.
  public var deviceVerificationNonce: String?
  /// When it was ordered in advance, milliseconds.
  public var preorderDate: Int64?
  /// Unique per Apple Account and app, stable across reinstalls.
  public var appTransactionId: String?
  /// Where it was first got.
  public var originalPlatform: Platform?
  /// Xcode only, milliseconds.
  public var requestDate: Int64?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    receiptType = try fields.value("receiptType")
    appAppleId = try fields.int64("appAppleId")
    bundleId = try fields.string("bundleId")
    applicationVersion = try fields.string("applicationVersion")
    versionExternalIdentifier = try fields.int64("versionExternalIdentifier")
    receiptCreationDate = try fields.milliseconds("receiptCreationDate")
    originalPurchaseDate = try fields.milliseconds("originalPurchaseDate")
    originalApplicationVersion = try fields.string("originalApplicationVersion")
    deviceVerification = try fields.string("deviceVerification")
    deviceVerificationNonce = try fields.string("deviceVerificationNonce")
    preorderDate = try fields.milliseconds("preorderDate")
    appTransactionId = try fields.string("appTransactionId")
    originalPlatform = try fields.value("originalPlatform")
    requestDate = try fields.milliseconds("requestDate")
  }
}
