/// The receipt within an answer of `verifyReceipt`.
public struct VerifyReceiptContents: Payload, Equatable {
  /// `Production`, `ProductionVPP`, `ProductionSandbox`, `ProductionVPPSandbox`.
  public var receiptType: String?
  /// The app's number in the store.
  public var adamId: Int64?
  /// The same, 0 in the sandbox.
  public var appItemId: Int64?
  /// The app.
  public var bundleId: String?
  /// Version of the app.
  public var applicationVersion: String?
  /// Apple's number of the download.
  public var downloadId: Int64?
  /// Apple's number of the version.
  public var versionExternalIdentifier: Int64?
  /// When the receipt was made, milliseconds.
  public var receiptCreationDate: Int64?
  /// When it was asked for, milliseconds.
  public var requestDate: Int64?
  /// When the app was bought, milliseconds.
  public var originalPurchaseDate: Int64?
  /// Version of the app that was bought first.
  public var originalApplicationVersion: String?
  /// When the app was ordered ahead, milliseconds.
  public var preorderDate: Int64?
  /// When a receipt of the Volume Purchase Program runs out, milliseconds.
  public var expirationDate: Int64?
  /// The in-app purchases, in no order.
  public var inApp: [VerifyReceiptTransaction] = []
  /// The one transaction of a receipt of iOS 6, which has no list.
  public var transaction: VerifyReceiptTransaction?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one that cannot be understood.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    receiptType = try fields.looseText("receipt_type")
    adamId = try fields.looseNumber("adam_id")
    appItemId = try fields.looseNumber("app_item_id")
    // Receipts of iOS 6 have `bid`.
    bundleId = try fields.looseText("bundle_id", or: "bid")
    applicationVersion = try fields.looseText("application_version")
    downloadId = try fields.looseNumber("download_id")
    versionExternalIdentifier = try fields.looseNumber("version_external_identifier")
    receiptCreationDate = try fields.looseDate(
      "receipt_creation_date_ms", or: "receipt_creation_date")
    requestDate = try fields.looseDate("request_date_ms", or: "request_date")
    originalPurchaseDate = try fields.looseDate(
      "original_purchase_date_ms", or: "original_purchase_date")
    originalApplicationVersion = try fields.looseText("original_application_version")
    preorderDate = try fields.looseDate("preorder_date_ms", or: "preorder_date")
    expirationDate = try fields.looseDate("expiration_date_ms", or: "expiration_date")
    inApp = try fields.looseObjects("in_app")
    if fields.has("transaction_id") { transaction = try VerifyReceiptTransaction(fields) }
  }

  /// Writes the fields as Apple does.
  public func encode(to encoder: any Encoder) throws {
    if let transaction {
      var writer = VerifyReceiptWriter(encoder)
      try writer.text("bid", bundleId)
      return try transaction.encode(to: encoder)
    }
    var writer = VerifyReceiptWriter(encoder)
    try writer.text("receipt_type", receiptType)
    try writer.number("adam_id", adamId)
    try writer.number("app_item_id", appItemId)
    try writer.text("bundle_id", bundleId)
    try writer.text("application_version", applicationVersion)
    try writer.number("download_id", downloadId)
    try writer.number("version_external_identifier", versionExternalIdentifier)
    try writer.date("receipt_creation_date", receiptCreationDate)
    try writer.date("request_date", requestDate)
    try writer.date("original_purchase_date", originalPurchaseDate)
    try writer.text("original_application_version", originalApplicationVersion)
    try writer.date("preorder_date", preorderDate)
    try writer.date("expiration_date", expirationDate)
    try writer.values("in_app", inApp)
  }
}
