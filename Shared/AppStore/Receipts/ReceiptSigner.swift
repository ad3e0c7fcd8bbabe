public import Cryptography

/// Signs receipts as the App Store does, with a chain of our own: for the simulator and for tests.
public struct ReceiptSigner: Sendable {
  private let leafKey: PrivateKey
  private let certificates: [Certificate]
  private let digest: SignedMessage.DigestKind

  /// A signer; `certificates` begins with the leaf, to which the key belongs.
  public init(
    leafKey: PrivateKey, certificates: [Certificate],
    digest: SignedMessage.DigestKind = .sha256
  ) {
    self.leafKey = leafKey
    self.certificates = certificates
    self.digest = digest
  }

  /// The receipt's bytes, PKCS#7 in DER.
  public func sign(_ receipt: AppReceipt) throws(CryptographyError) -> [UInt8] {
    try sign(content: receipt.content)
  }

  /// Signed bytes around any content.
  public func sign(content: [UInt8]) throws(CryptographyError) -> [UInt8] {
    try SignedMessage.sign(content, key: leafKey, certificates: certificates, digest: digest)
  }
}

extension SigningChain {
  /// The signer of receipts of this chain.
  public var receiptSigner: ReceiptSigner {
    ReceiptSigner(leafKey: leafKey, certificates: [leaf, intermediate, root])
  }
}

extension AppReceipt {
  /// The attributes in DER, as they are signed.
  public var content: [UInt8] {
    var entries = AttributeWriter()
    entries.text(0, environmentName)
    entries.number(1, appItemId)
    entries.raw(2, bundleIdBytes)
    entries.text(3, applicationVersion)
    entries.raw(4, opaqueValue)
    entries.raw(5, deviceHash)
    entries.date(12, creationDate)
    for inApp in inApps { entries.raw(17, inApp.content) }
    entries.date(18, originalPurchaseDate)
    entries.text(19, originalApplicationVersion)
    entries.date(21, expirationDate)
    entries.add(unknown)
    return entries.content
  }
}

extension InAppReceipt {
  /// The attributes in DER: the value of attribute 17.
  var content: [UInt8] {
    var entries = AttributeWriter()
    entries.number(1701, quantity)
    entries.text(1702, productId)
    entries.text(1703, transactionId)
    entries.date(1704, purchaseDate)
    entries.text(1705, originalTransactionId)
    entries.date(1706, originalPurchaseDate)
    entries.number(1707, productType?.rawValue)
    entries.date(1708, expiresDate)
    entries.number(1711, webOrderLineItemId.flatMap { Int64($0) })
    entries.date(1712, cancellationDate)
    entries.number(1713, isTrial.map { $0 ? 1 : 0 })
    entries.number(1719, isInIntroOffer.map { $0 ? 1 : 0 })
    entries.text(1721, promotionalOfferId)
    entries.add(unknown)
    return entries.content
  }
}

private struct AttributeWriter {
  private var entries: [UInt8] = []

  var content: [UInt8] { ASN1Writer.element(.set, entries) }

  mutating func text(_ type: Int64, _ text: String?) {
    raw(type, text.map { ASN1Writer.text($0) })
  }

  mutating func number(_ type: Int64, _ number: Int64?) {
    raw(type, number.map { ASN1Writer.integer($0) })
  }

  mutating func date(_ type: Int64, _ date: Int64?) {
    raw(type, date.map { ASN1Writer.text(ReceiptDate.text($0), as: .asciiText) })
  }

  mutating func raw(_ type: Int64, _ value: [UInt8]?) {
    guard let value else { return }
    add([ReceiptAttribute(type: type, value: value)])
  }

  mutating func add(_ attributes: [ReceiptAttribute]) {
    for attribute in attributes {
      let fields =
        ASN1Writer.integer(attribute.type) + ASN1Writer.integer(attribute.version)
        + ASN1Writer.element(.octets, attribute.value)
      entries += ASN1Writer.element(.sequence, fields)
    }
  }
}
