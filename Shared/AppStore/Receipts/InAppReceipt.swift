import Cryptography

/// One in-app purchase as a receipt lists it: attribute 17.
public struct InAppReceipt: Sendable, Equatable {
  /// Units bought; 1 where the receipt does not say (1701).
  public var quantity: Int64
  /// The product (1702).
  public var productId: String
  /// The transaction (1703).
  public var transactionId: String
  /// When it was charged, UNIX milliseconds (1704).
  public var purchaseDate: Int64
  /// The first transaction of the lineage; Xcode leaves it out (1705).
  public var originalTransactionId: String?
  /// When that was charged, UNIX milliseconds (1706).
  public var originalPurchaseDate: Int64?
  /// Kind of product (1707).
  public var productType: ReceiptProductType?
  /// End of the subscription's period, UNIX milliseconds (1708).
  public var expiresDate: Int64?
  /// The subscription's period across devices, decimal digits; nil for 0 (1711).
  public var webOrderLineItemId: String?
  /// When it was refunded or revoked, UNIX milliseconds (1712).
  public var cancellationDate: Int64?
  /// Whether the period is a free trial (1713).
  public var isTrial: Bool?
  /// Whether the period has an introductory price (1719).
  public var isInIntroOffer: Bool?
  /// The promotional offer that applied (1721).
  public var promotionalOfferId: String?
  /// Attributes that are not known here.
  public var unknown: [ReceiptAttribute] = []

  /// A purchase with what each one has.
  public init(
    productId: String, transactionId: String, originalTransactionId: String? = nil,
    purchaseDate: Int64, quantity: Int64 = 1
  ) {
    self.quantity = quantity
    self.productId = productId
    self.transactionId = transactionId
    self.purchaseDate = purchaseDate
    self.originalTransactionId = originalTransactionId
  }

  /// Reads the value of attribute 17.
  init(_ value: [UInt8]) throws(ReceiptRejection) {
    let attributes: ReceiptAttributes
    do {
      attributes = try ReceiptAttributes(value)
    } catch {
      throw ReceiptRejection(.malformedContent, "attribute 17: \(error)")
    }
    guard let productId = attributes.text(1702), let transactionId = attributes.text(1703),
      let purchaseDate = try attributes.date(1704)
    else {
      throw ReceiptRejection(
        .malformedContent, "an in-app purchase lacks its product, transaction id or date")
    }
    self.productId = productId
    self.transactionId = transactionId
    self.purchaseDate = purchaseDate
    quantity = attributes.number(1701) ?? 1
    originalTransactionId = attributes.text(1705)
    originalPurchaseDate = try attributes.date(1706)
    productType = attributes.number(1707).map { ReceiptProductType(rawValue: $0) }
    expiresDate = try attributes.date(1708)
    webOrderLineItemId = attributes.number(1711).flatMap { $0 == 0 ? nil : String($0) }
    cancellationDate = try attributes.date(1712)
    isTrial = attributes.flag(1713)
    isInIntroOffer = attributes.flag(1719)
    promotionalOfferId = attributes.text(1721)
    unknown = attributes.all.filter { !Self.known.contains($0.type) }
  }

  private static let known: Set<Int64> = [
    1701, 1702, 1703, 1704, 1705, 1706, 1707, 1708, 1711, 1712, 1713, 1719, 1721,
  ]
}

/// Kind of product, as a receipt numbers it.
public struct ReceiptProductType: OpenVocabulary {
  /// The value as received.
  public let rawValue: Int64

  /// Wraps a value, known or not.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// `0`.
  public static let nonConsumable = ReceiptProductType(rawValue: 0)
  /// `1`.
  public static let consumable = ReceiptProductType(rawValue: 1)
  /// `2`.
  public static let nonRenewing = ReceiptProductType(rawValue: 2)
  /// `3`.
  public static let autoRenewable = ReceiptProductType(rawValue: 3)

  /// The same kind in a transaction's words; nil for one that is not known here.
  public var productType: ProductType? {
    switch self {
    case .nonConsumable: .nonConsumable
    case .consumable: .consumable
    case .nonRenewing: .nonRenewing
    case .autoRenewable: .autoRenewable
    default: nil
    }
  }
}
