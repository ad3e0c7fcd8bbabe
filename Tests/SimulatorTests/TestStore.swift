import AppStore
import Catalog

@testable import app_store_simulator

/// The products that the suites buy.
enum TestStore {
  static let storeKit = """
    {"version": {"major": 4, "minor": 0},
     "products": [
      {"displayPrice": "0.99", "familyShareable": false, "internalID": "A1", "localizations": [],
       "productID": "coins", "referenceName": "Coins", "type": "Consumable"},
      {"displayPrice": "4.99", "familyShareable": false, "internalID": "A2", "localizations": [],
       "productID": "themes", "referenceName": "Themes", "type": "NonConsumable"}],
     "nonRenewingSubscriptions": [
      {"displayPrice": "14.99", "familyShareable": false, "internalID": "A3", "localizations": [],
       "productID": "season", "referenceName": "Season", "type": "NonRenewingSubscription"}],
     "subscriptionGroups": [
      {"id": "PRO", "name": "Pro", "localizations": [], "subscriptions": [
       \(subscription("pro.yearly", 1, "P1Y", "59.99")),
       \(subscription("pro.monthly", 2, "P1M", "9.99", trial)),
       \(subscription("pro.other", 2, "P1M", "8.99")),
       \(subscription("pro.weekly", 3, "P1W", "2.99"))]},
      {"id": "NEWS", "name": "News", "localizations": [], "subscriptions": [
       \(subscription("news", 1, "P1M", "5", payAsYouGo, promotional, group: "NEWS")),
       \(subscription("news.short", 2, "P1W", "1", group: "NEWS"))]}]}
    """

  private static let trial = """
    {"internalID": "O1", "paymentMode": "free", "subscriptionPeriod": "P3D"}
    """
  private static let payAsYouGo = """
    {"internalID": "O2", "paymentMode": "payAsYouGo", "subscriptionPeriod": "P1M",
     "numberOfPeriods": 2, "displayPrice": "1"}
    """
  private static let promotional = """
    {"internalID": "O3", "offerID": "half", "referenceName": "Half", "paymentMode": "payUpFront",
     "subscriptionPeriod": "P6M", "displayPrice": "15"}
    """

  private static func subscription(
    _ id: String, _ level: Int, _ period: String, _ price: String, _ introductory: String = "null",
    _ promotional: String? = nil, group: String = "PRO"
  ) -> String {
    """
    {"productID": "\(id)", "referenceName": "\(id)", "internalID": "\(id)", "localizations": [],
     "familyShareable": false, "displayPrice": "\(price)", "type": "RecurringSubscription",
     "subscriptionGroupID": "\(group)", "groupNumber": \(level),
     "recurringSubscriptionPeriod": "\(period)", "introductoryOffer": \(introductory),
     "adHocOffers": [\(promotional ?? "")], "codeOffers": []}
    """
  }

  static func ledger(limit: Int = 1_000, firstId: UInt64 = 1_000) throws -> Ledger {
    Ledger(
      catalog: try Catalog(storeKit: Array(storeKit.utf8)),
      seller: Ledger.Seller(
        bundleId: "com.example.app", environment: .sandbox, storefront: .unitedStates),
      firstId: firstId, limit: limit)
  }
}

/// 2027-01-31T10:00:00Z, a day that not every month has.
let january31: Int64 = 1_801_389_600_000
let second: Int64 = 1_000
let hour: Int64 = 3_600_000
let day: Int64 = 86_400_000

/// UNIX milliseconds at ten o'clock UTC of a day in 2027.
func tenOClock(_ month: Int, _ dayOfMonth: Int) -> Int64 {
  let daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334][month - 1]
  return january31 + Int64(daysBefore + dayOfMonth - 31) * day
}

extension Ledger {
  mutating func buy(
    _ product: String, account: String? = "mary", token: String? = nil, quantity: Int = 1,
    storefront: String? = nil, offer: String? = nil, at now: Int64 = january31
  ) throws -> Happening {
    try buy(
      PurchaseOrder(
        productId: product, token: token, quantity: quantity, account: account,
        storefront: storefront, offer: offer), at: now)
  }

  /// Lets time pass.
  mutating func pass(until time: Int64) throws -> [Happening] {
    var happenings: [Happening] = []
    while let due = nextDue, due <= time { happenings.append(try fireNext()) }
    return happenings
  }
}

extension Happening {
  var id: String { transaction?.transactionId ?? "" }
  var original: String { transaction?.originalTransactionId ?? "" }
  /// Type and subtype in one word.
  var word: String { subtype.map { "\(type)/\($0)" } ?? "\(type)" }
}
