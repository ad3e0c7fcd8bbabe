import AppStore
import Cryptography
import ServiceRuntime

/// Signs as Apple does, fast: payloads are put together as text.
struct Apple: Sendable {
  static let bundleID = "com.example.demo"

  let chain: SigningChain
  private let signer: JWSSigner
  let now: Int64

  init() throws {
    now = SystemClock().now()
    let year: Int64 = 365 * 86_400_000
    chain = try SigningChain.make(notBefore: now - year, notAfter: now + year)
    signer = chain.signer
  }

  /// A signed purchase; with `isSubscription` a month of `pro`, else 100 coins.
  func transaction(_ number: Int, isSubscription: Bool, token: String?) throws -> String {
    let id = 2_000_000_000_000_000 + number
    let product = isSubscription ? "pro.monthly" : "coins.100"
    let token = token.map { "\"appAccountToken\":\"\($0)\"," } ?? ""
    let period =
      isSubscription
      ? "\"expiresDate\":\(now + 30 * 86_400_000),\"subscriptionGroupIdentifier\":\"5A1C0E27\","
        + "\"webOrderLineItemId\":\"\(id + 1)\"," : ""
    return try signer.sign(
      Array(
        """
        {"transactionId":"\(id)","originalTransactionId":"\(id)","bundleId":"\(Self.bundleID)",\
        "productId":"\(product)","purchaseDate":\(now),"originalPurchaseDate":\(now),\(period)\
        "quantity":1,"type":"\(isSubscription ? "Auto-Renewable Subscription" : "Consumable")",\
        \(token)"inAppOwnershipType":"PURCHASED","signedDate":\(now + 1000),"environment":"Sandbox",\
        "transactionReason":"PURCHASE","storefront":"USA","storefrontId":"143441","price":9990,\
        "currency":"USD","appTransactionId":"704346128472890412"}
        """.utf8))
  }

  func renewalInfo(_ number: Int) throws -> String {
    let id = 2_000_000_000_000_000 + number
    return try signer.sign(
      Array(
        """
        {"originalTransactionId":"\(id)","autoRenewProductId":"pro.monthly","productId":"pro.monthly",\
        "autoRenewStatus":1,"renewalPrice":9990,"currency":"USD","signedDate":\(now + 1000),\
        "environment":"Sandbox","recentSubscriptionStartDate":\(now),\
        "renewalDate":\(now + 30 * 86_400_000),"appTransactionId":"704346128472890412"}
        """.utf8))
  }

  /// A notification that holds a transaction and its renewal info: three signatures.
  func notification(_ number: Int, token: String?) throws -> String {
    let hex = String(number, radix: 16)
    let uuid = "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - hex.count) + hex
    return try signer.sign(
      Array(
        """
        {"notificationType":"SUBSCRIBED","subtype":"INITIAL_BUY","notificationUUID":"\(uuid)",\
        "data":{"appAppleId":1234567890,"bundleId":"\(Self.bundleID)","bundleVersion":"1",\
        "environment":"Sandbox",\
        "signedTransactionInfo":"\(try transaction(number, isSubscription: true, token: token))",\
        "signedRenewalInfo":"\(try renewalInfo(number))","status":1},\
        "version":"2.0","signedDate":\(now + 1000)}
        """.utf8))
  }
}
