import Catalog
import Events

@testable import entitlement_service

/// Times of the samples: a month is 30 days, days are numbered from an arbitrary one.
func day(_ number: Int64) -> Int64 { 1_700_000_000_000 + number * 86_400_000 }

/// What the products of the samples give unless a test says something else.
let sampleProducts = """
  "pro.monthly": {"kind": "auto-renewable", "displayPrice": "9.99", "entitlements": ["pro"],
    "subscription": {"group": "Pro", "level": 2, "period": "P1M"}},
  "pro.yearly": {"kind": "auto-renewable", "displayPrice": "59.99", "entitlements": ["pro", "extra"],
    "subscription": {"group": "Pro", "level": 1, "period": "P1Y"}},
  "themes.all": {"kind": "non-consumable", "displayPrice": "4.99", "entitlements": ["themes"]},
  "season.pass": {"kind": "non-renewing", "displayPrice": "14.99", "entitlements": ["season"],
    "length": "P90D"},
  "coins.100": {"kind": "consumable", "displayPrice": "0.99", "credits": {"coins": 100}},
  "boosts.10": {"kind": "consumable", "displayPrice": "0.99",
    "credits": {"boosts": {"amount": 10, "expiresAfter": "P30D"}}}
  """

/// A catalog with one product of each kind.
func sampleRules(policies: String = "{}", products: String = sampleProducts) throws -> Rules {
  let catalog = try Catalog(json: Array("{\"products\": {\(products)}}".utf8))
  let apps = try Apps(
    json: Array(
      """
      {"roots": ["root.der"], "catalog": "catalog.json",
       "apps": [{"bundleId": "com.example.app", "appAppleId": 1,
                 "environments": {"Sandbox": {}, "Production": {}}, "policies": \(policies)}]}
      """.utf8))
  return Rules(apps: apps, catalogs: ["com.example.app": catalog])
}

extension Entitlements {
  /// The rights of `alice` from lineages alone.
  static func compute(_ lineages: [LineageState], _ rules: Rules, at now: Int64) -> Result {
    compute(
      Holdings(
        customer: "alice",
        lineages: lineages.map { HeldLineage($0, Sightings().seeing($0)) }), rules, at: now)
  }
}

/// A transaction of a product, charged on a day.
func transaction(
  _ id: String, _ productId: String, _ type: String, on purchased: Int64,
  until expires: Int64? = nil,
  reason: String = "PURCHASE", _ fill: (inout LineageTransaction) -> Void = { _ in }
) -> LineageTransaction {
  var transaction = LineageTransaction(
    transactionId: id, productId: productId, type: type, quantity: 1, purchaseDate: day(purchased),
    signedDate: day(purchased), hash: id)
  transaction.expiresDate = expires.map { day($0) }
  transaction.transactionReason = reason
  fill(&transaction)
  return transaction
}

func monthly(
  _ id: String, from start: Int64, to end: Int64, reason: String = "RENEWAL",
  _ fill: (inout LineageTransaction) -> Void = { _ in }
) -> LineageTransaction {
  transaction(
    id, "pro.monthly", "Auto-Renewable Subscription", on: start, until: end, reason: reason, fill)
}

/// A lineage that `alice` has.
func lineage(
  _ original: String, _ transactions: [LineageTransaction], revision: Int64 = 1,
  _ fill: (inout LineageState) -> Void = { _ in }
) -> LineageState {
  var state = LineageState(
    lineage: LineageID(
      bundleId: "com.example.app", environment: "Sandbox", originalTransactionId: original),
    revision: revision, customer: "alice", holding: .held, transactions: transactions,
    cause: LineageCause(kind: "proof"), decidedAt: day(0))
  fill(&state)
  return state
}

func renewal(_ fill: (inout LineageRenewal) -> Void) -> LineageRenewal {
  var renewal = LineageRenewal(signedDate: day(0), hash: "r")
  renewal.autoRenewStatus = 1
  fill(&renewal)
  return renewal
}
