import Cryptography

extension APIRequest where Answer == NoAnswer {
  /// Send Consumption Information about a transaction that the customer wants refunded.
  ///
  /// - Parameter transactionId: That of the refund request, never the original one in its place.
  public static func consumption(
    _ transactionId: String, _ information: ConsumptionInformation
  ) throws(APIError) -> Self {
    let id = try RequestParts.segment(transactionId, "transactionId")
    try information.check()
    return APIRequest(
      .consumption, "PUT", "/inApps/v2/transactions/consumption/\(id)",
      body: try RequestParts.json(information))
  }

  /// The version before, which only Advanced Commerce still needs.
  public static func consumptionV1(
    _ transactionId: String, _ information: ConsumptionInformationV1
  ) throws(APIError) -> Self {
    let id = try RequestParts.segment(transactionId, "transactionId")
    guard information.customerConsented else { throw ConsumptionInformation.noConsent }
    return APIRequest(
      .consumptionV1, "PUT", "/inApps/v1/transactions/consumption/\(id)",
      body: try RequestParts.json(information))
  }

  /// Set App Account Token of a purchase and, for a subscription, of its later renewals.
  ///
  /// - Parameters:
  ///   - originalTransactionId: Of the lineage; a renewal's id is refused with 4000187.
  ///   - token: A UUID.
  public static func appAccountToken(
    _ originalTransactionId: String, token: String
  ) throws(APIError) -> Self {
    let id = try RequestParts.segment(originalTransactionId, "originalTransactionId")
    guard let uuid = UUIDs.normalized(token) else {
      throw RequestParts.bad("appAccountToken", "appAccountToken is not a UUID")
    }
    return APIRequest(
      .appAccountToken, "PUT", "/inApps/v1/transactions/\(id)/appAccountToken",
      body: try RequestParts.json(["appAccountToken": uuid]))
  }

  /// Finish Transaction; needless where the app calls `finish()`.
  public static func finish(_ transactionId: String) throws(APIError) -> Self {
    let id = try RequestParts.segment(transactionId, "transactionId")
    return APIRequest(.finish, "POST", "/inApps/v1/transactions/\(id)/finish")
  }
}
