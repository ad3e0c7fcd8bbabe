/// What a proved receipt says about one lineage, in the words of signed transactions.
public struct ReceiptLineage: Sendable, Equatable {
  /// The app.
  public let bundleId: String
  /// The environment.
  public let environment: AppEnvironment
  /// The lineage's key; the transaction's own id where the receipt names no original one.
  public let originalTransactionId: String
  /// Its transactions, each id once, by purchase date, then by id.
  ///
  /// `signedDate` is the receipt's creation date, which stands for the date that is missing. What a
  /// receipt does not say, such as token, price and ownership, is absent.
  public let transactions: [TransactionPayload]
  /// The receipt's hash, the same for all its lineages.
  public let receiptHash: String
  /// When the receipt was made, UNIX milliseconds.
  public let signedDate: Int64
  /// What is to come, where Apple was asked; a receipt itself does not say.
  public var renewal: RenewalInfoPayload?
}

extension VerifiedReceipt {
  /// One value per lineage, by the lineage's id; a pure function of the receipt's content.
  public var lineages: [ReceiptLineage] {
    let groups = Dictionary(grouping: receipt.inApps, by: \.lineageId)
    return groups.keys.sorted().map { id in
      ReceiptLineage(
        bundleId: receipt.bundleId, environment: environment, originalTransactionId: id,
        transactions: transactions(groups[id] ?? []), receiptHash: hash,
        signedDate: receipt.creationDate)
    }
  }

  private func transactions(_ inApps: [InAppReceipt]) -> [TransactionPayload] {
    let copies = Dictionary(grouping: inApps, by: \.transactionId).values
    return copies.compactMap { $0.max(by: InAppReceipt.saysLess) }
      .sorted { ($0.purchaseDate, $0.transactionId) < ($1.purchaseDate, $1.transactionId) }
      .map { $0.payload(in: receipt, environment) }
  }
}

extension InAppReceipt {
  var lineageId: String { originalTransactionId ?? transactionId }

  /// Of two copies of one transaction in one receipt, the cancelled one counts, then the longer one.
  fileprivate static func saysLess(_ a: InAppReceipt, _ b: InAppReceipt) -> Bool {
    (a.cancellationDate ?? 0, a.expiresDate ?? 0) < (b.cancellationDate ?? 0, b.expiresDate ?? 0)
  }

  fileprivate func payload(
    in receipt: AppReceipt, _ environment: AppEnvironment
  ) -> TransactionPayload {
    var payload = TransactionPayload()
    payload.transactionId = transactionId
    payload.originalTransactionId = lineageId
    payload.webOrderLineItemId = webOrderLineItemId
    payload.bundleId = receipt.bundleId
    payload.productId = productId
    payload.purchaseDate = purchaseDate
    payload.originalPurchaseDate = originalPurchaseDate
    payload.expiresDate = expiresDate
    payload.quantity = Int32(clamping: quantity)
    // Where the kind is left out, as by Xcode, only an auto-renewable one has an end.
    payload.type = productType?.productType ?? expiresDate.map { _ in .autoRenewable }
    payload.signedDate = receipt.creationDate
    payload.revocationDate = cancellationDate
    payload.environment = environment
    if let promotionalOfferId {
      payload.offerType = .promotional
      payload.offerIdentifier = promotionalOfferId
    } else if isTrial == true || isInIntroOffer == true {
      payload.offerType = .introductory
    }
    if isTrial == true { payload.offerDiscountType = .freeTrial }
    return payload
  }
}
