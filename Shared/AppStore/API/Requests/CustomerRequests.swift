extension APIRequest where Answer == TransactionInfoAnswer {
  /// Get Transaction Info; takes a `transactionId` (an original one too), no `appTransactionId`.
  public static func transactionInfo(_ transactionId: String) throws(APIError) -> Self {
    let id = try RequestParts.segment(transactionId, "transactionId")
    return APIRequest(.transactionInfo, "GET", "/inApps/v1/transactions/\(id)")
  }
}

extension APIRequest where Answer == HistoryAnswer {
  /// Get Transaction History: one page of a customer's transactions.
  ///
  /// - Parameters:
  ///   - anyId: A `transactionId`, `originalTransactionId` or `appTransactionId` of the customer.
  ///   - revision: Of the page before, with the same query; nil for the first page.
  public static func transactionHistory(
    _ anyId: String, _ query: HistoryQuery = HistoryQuery(), revision: String? = nil
  ) throws(APIError) -> Self {
    let id = try RequestParts.segment(anyId, "transactionId")
    return APIRequest(
      .transactionHistory, "GET", "/inApps/v2/history/\(id)", query: query.parameters(revision))
  }

  /// The deprecated version, which leaves out finished consumables.
  public static func transactionHistoryV1(
    _ anyId: String, _ query: HistoryQuery = HistoryQuery(), revision: String? = nil
  ) throws(APIError) -> Self {
    let id = try RequestParts.segment(anyId, "transactionId")
    return APIRequest(
      .transactionHistoryV1, "GET", "/inApps/v1/history/\(id)", query: query.parameters(revision))
  }
}

extension APIRequest where Answer == AppTransactionInfoAnswer {
  /// Get App Transaction Info; takes any id of the customer.
  public static func appTransactionInfo(_ anyId: String) throws(APIError) -> Self {
    let id = try RequestParts.segment(anyId, "transactionId")
    return APIRequest(
      .appTransactionInfo, "GET", "/inApps/v1/transactions/appTransactions/\(id)")
  }
}

extension APIRequest where Answer == StatusesAnswer {
  /// Get All Subscription Statuses; takes any id of the customer.
  ///
  /// - Parameter statuses: The states that are asked for; empty for all.
  public static func subscriptionStatuses(
    _ anyId: String, in statuses: [SubscriptionStatus] = []
  ) throws(APIError) -> Self {
    let id = try RequestParts.segment(anyId, "transactionId")
    return APIRequest(
      .subscriptionStatuses, "GET", "/inApps/v1/subscriptions/\(id)",
      query: statuses.map { ("status", String($0.rawValue)) })
  }
}

extension APIRequest where Answer == RefundHistoryAnswer {
  /// Get Refund History: one page of a customer's refunds, ascending by date.
  public static func refundHistory(
    _ anyId: String, revision: String? = nil
  ) throws(APIError) -> Self {
    let id = try RequestParts.segment(anyId, "transactionId")
    return APIRequest(
      .refundHistory, "GET", "/inApps/v2/refund/lookup/\(id)",
      query: revision.map { [("revision", $0)] } ?? [])
  }

  /// The deprecated version: at most 50, never more pages; takes an `originalTransactionId` only.
  public static func refundHistoryV1(_ originalTransactionId: String) throws(APIError) -> Self {
    let id = try RequestParts.segment(originalTransactionId, "originalTransactionId")
    return APIRequest(.refundHistoryV1, "GET", "/inApps/v1/refund/lookup/\(id)")
  }
}

extension APIRequest where Answer == OrderLookupAnswer {
  /// Look Up Order ID, as on the customer's bill; not in the sandbox.
  public static func orderLookup(_ orderId: String) throws(APIError) -> Self {
    let id = try RequestParts.segment(orderId, "orderId")
    return APIRequest(.orderLookup, "GET", "/inApps/v1/lookup/\(id)")
  }
}
