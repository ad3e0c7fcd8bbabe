/// A server notification, version 2: `ResponseBodyV2DecodedPayload`.
///
/// Exactly one of the last five is present in the forms known today.
public struct NotificationPayload: Payload, Equatable {
  /// What happened; only the trigger, the truth is in the signed objects.
  public var notificationType: NotificationType?
  /// More about it, with some types.
  public var subtype: NotificationSubtype?
  /// The same in every retry; duplicates are found by it.
  public var notificationUUID: String?
  /// `2.0`.
  public var version: String?
  /// When Apple signed it, milliseconds.
  public var signedDate: Int64?
  /// For purchases.
  public var data: NotificationData?
  /// For the end of a mass extension.
  public var summary: NotificationSummary?
  /// For external purchases.
  public var externalPurchaseToken: ExternalPurchaseToken?
  /// For the app as a whole.
  public var appData: NotificationAppData?
  /// For seats that were given back.
  public var unclaimInfo: UnclaimInfo?

  /// An empty object, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    notificationType = try fields.value("notificationType")
    subtype = try fields.value("subtype")
    notificationUUID = try fields.string("notificationUUID")
    version = try fields.string("version")
    signedDate = try fields.milliseconds("signedDate")
    data = try fields.object("data")
    summary = try fields.object("summary")
    externalPurchaseToken = try fields.object("externalPurchaseToken")
    appData = try fields.object("appData")
    unclaimInfo = try fields.object("unclaimInfo")
  }
}
