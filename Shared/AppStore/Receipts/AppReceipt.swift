import Cryptography

/// An app receipt: what the store says about one app on one account.
///
/// The value alone proves nothing; `ReceiptVerifier` answers one that was proved.
public struct AppReceipt: Sendable, Equatable {
  /// The environment as the receipt writes it, such as `ProductionSandbox` (0).
  public var environmentName: String
  /// The app's number in the store, 0 in the sandbox (1).
  public var appItemId: Int64?
  /// The app (2).
  public var bundleId: String
  /// The bundle id's value with its tag, as it enters the hash of the device (2).
  public var bundleIdBytes: [UInt8]
  /// Version of the app (3).
  public var applicationVersion: String?
  /// Bytes that enter the hash of the device (4).
  public var opaqueValue: [UInt8]?
  /// SHA-1 of device id, opaque value and bundle id (5).
  public var deviceHash: [UInt8]?
  /// When the store made this receipt, UNIX milliseconds (12).
  public var creationDate: Int64
  /// The in-app purchases in their order, which is not that of their dates (17).
  public var inApps: [InAppReceipt]
  /// When the app was bought, UNIX milliseconds (18).
  public var originalPurchaseDate: Int64?
  /// Version of the app that was bought first (19).
  public var originalApplicationVersion: String?
  /// When a receipt of the Volume Purchase Program runs out, UNIX milliseconds (21).
  public var expirationDate: Int64?
  /// Attributes that are not known here.
  public var unknown: [ReceiptAttribute] = []

  /// A receipt with what each one has.
  public init(
    environmentName: String, bundleId: String, creationDate: Int64, inApps: [InAppReceipt] = []
  ) {
    self.environmentName = environmentName
    self.bundleId = bundleId
    bundleIdBytes = ASN1Writer.text(bundleId)
    self.creationDate = creationDate
    self.inApps = inApps
  }

  /// The environment in Purser's words; one that is not known here is kept as it is written.
  public var environment: AppEnvironment {
    switch environmentName {
    case "Production", "ProductionVPP": .production
    case "ProductionSandbox", "ProductionVPPSandbox": .sandbox
    default: AppEnvironment(rawValue: environmentName)
    }
  }

  /// Whether a receipt of the Volume Purchase Program has run out at `date`, UNIX milliseconds.
  public func hasExpired(at date: Int64) -> Bool { expirationDate.map { $0 <= date } ?? false }

  /// Reads the signed content.
  init(content: [UInt8]) throws(ReceiptRejection) {
    let attributes: ReceiptAttributes
    do {
      attributes = try ReceiptAttributes(content)
    } catch {
      throw ReceiptRejection(.malformedContent, "not a receipt's attributes: \(error)")
    }
    guard let environmentName = attributes.text(0), let bundleId = attributes.text(2),
      let bundleIdBytes = attributes.first(2), let creationDate = try attributes.date(12)
    else {
      throw ReceiptRejection(
        .malformedContent, "the receipt lacks its environment, bundle id or creation date")
    }
    self.environmentName = environmentName
    self.bundleId = bundleId
    self.bundleIdBytes = bundleIdBytes
    self.creationDate = creationDate
    appItemId = attributes.number(1)
    applicationVersion = attributes.text(3)
    opaqueValue = attributes.first(4)
    deviceHash = attributes.first(5)
    originalPurchaseDate = try attributes.date(18)
    originalApplicationVersion = attributes.text(19)
    expirationDate = try attributes.date(21)
    inApps = []
    for attribute in attributes.all where attribute.type == 17 {
      inApps.append(try InAppReceipt(attribute.value))
    }
    unknown = attributes.all.filter { !Self.known.contains($0.type) }
  }

  private static let known: Set<Int64> = [0, 1, 2, 3, 4, 5, 12, 17, 18, 19, 21]
}
