import Events
import FoundationEssentials
import HTTPClient
import ServiceRuntime

@testable import purser

/// The whole life of one generated customer: the deeds of a `Buyer`, and then spends near zero, gifts, news
/// that come late, a purchase that support moves, a merge, an erasure.
struct Life: Sendable {
  let buyer: Buyer
  let tally: LifeTally

  private var load: Load { buyer.load }

  func live(_ random: inout some RandomNumberGenerator) async throws {
    try await buyer.live(&random)
    if buyer.chance(2, of: 3, &random) { try await spend(&random) }
    if buyer.chance(1, of: 3, &random) { try await hearLate() }
    if buyer.chance(1, of: 4, &random) { try await receiveGifts(&random) }
    switch Int.random(in: 0..<8, using: &random) {
    case 0: try await isMovedBySupport()
    case 1, 2: try await takeOverGuest()
    case 3: try await someoneIsErased()
    default: break
    }
  }

  private func person(_ word: String) -> Buyer {
    Buyer(load: load, name: "\(buyer.name)-\(word)")
  }

  /// Takes what is there, one more than is there, and what comes between; each answer is known before.
  private func spend(_ random: inout some RandomNumberGenerator) async throws {
    let spender = person("s")
    var lots: [Bought] = []
    for lot in 0..<Int.random(in: 1...2, using: &random) {
      lots.append(try await spender.buyForSure("coins.100", "lot-\(lot)") { $0.coins += 100 })
    }
    var coins = Int64(lots.count) * 100
    try await spender.has(coins)
    for turn in 0..<Int.random(in: 2...5, using: &random) {
      let near = [coins, coins + 1, coins - 1, Int64.random(in: 1...80, using: &random)]
      let amount = max(1, near.randomElement(using: &random) ?? 1)
      let request = LifeTally.SpendRequest(
        customer: spender.name, body: #"{"units":{"coins":\#(amount)},"environment":"Sandbox"}"#,
        key: "\(spender.name)-\(turn)")
      let isCovered = amount <= coins
      for _ in 0..<(buyer.chance(1, of: 4, &random) ? 2 : 1) {
        try await spender.write(
          "entitlement-service", "spends", request.body, key: request.key,
          expecting: isCovered ? [200, 201] : [422])
      }
      guard isCovered else {
        tally.count("refused spends")
        continue
      }
      coins -= amount
      tally.spent(request)
      load.note(spender.name, "spent \(amount)") { $0.coins -= amount }
    }
    guard buyer.chance(1, of: 3, &random) else { return }
    try await spender.apple("transactions/\(lots[0].transactionId ?? "")/refund")
    tally.count("refunds of what was spent")
    load.note(spender.name, "refunded") { $0.coins = max(0, $0.coins - 100) }
  }

  /// Of a refund is told first, and of the purchase with an older copy afterwards.
  private func hearLate() async throws {
    let order = try await buyer.order("coins.100", "late")
    let bought = try await buyer.insist("buying") {
      try await load.way.buy("coins.100", token: order.id, notify: false)
    }
    // Of two copies that were signed in one millisecond the hash decides, which Apple leaves to nobody.
    let signed = try await buyer.insist("asking the time") { try await load.way.now() }
    _ = try await eventually("a millisecond has passed") {
      try await load.way.now() > signed ? true : nil
    }
    try await buyer.apple("transactions/\(bought.transactionId ?? "")/refund")
    try await buyer.decided(order, bought.signedTransaction)
    tally.count("late news")
    load.note(buyer.name, "coins \(bought.transactionId ?? ""), refunded before they were proved")
  }

  /// A right and coins of the team's own, which end as time passes.
  private func receiveGifts(_ random: inout some RandomNumberGenerator) async throws {
    let day: Int64 = 86_400_000
    let now = try await buyer.insist("asking the time") { try await load.way.now() }
    let end = now + Int64.random(in: 10...40, using: &random) * day
    try await buyer.write(
      "entitlement-service", "grants",
      #"{"entitlement":"vip","environment":"Sandbox","reason":"won","expiresAt":\#(end)}"#,
      key: "\(buyer.name)-grant", expecting: [200, 201])
    try await buyer.write(
      "entitlement-service", "credits",
      #"{"units":{"coins":7},"environment":"Sandbox","reason":"gift","expiresAt":\#(end)}"#,
      key: "\(buyer.name)-credit", expecting: [200, 201])
    tally.count("gifts")
    load.note(buyer.name, "was given vip and 7 coins") { book in
      book.rights.insert("vip")
      book.ending.insert("vip")
      book.coins += 7
      book.endingCoins += 7
    }
  }

  private func isMovedBySupport() async throws {
    let (before, after) = (person("t"), person("u"))
    let bought = try await before.buyForSure("coins.100", "moved") { $0.coins += 100 }
    try await before.has(100)
    let lineage = "\(load.way.plan.bundleID)/Sandbox/\(bought.originalTransactionId ?? "")"
    try await after.write(
      "order-service", "transfers", #"{"lineage":"\#(lineage)","reason":"bought as another"}"#,
      key: "\(after.name)-transfer", expecting: [202])
    tally.count("transfers by support")
    load.note(before.name, "gave to \(after.name)") { $0.coins -= 100 }
    load.note(after.name, "took from \(before.name)") { $0.coins += 100 }
    try await after.has(100)
  }

  /// A guest who bought signs in: the two are one from then on.
  private func takeOverGuest() async throws {
    let guest = person("m")
    _ = try await guest.buyForSure("coins.100", "coins") { $0.coins += 100 }
    _ = try await guest.buyForSure("themes.all", "themes") { $0.rights.insert("themes") }
    try await guest.has(100)
    try await guest.write(
      "order-service", "merge", #"{"into":"\#(buyer.name)","reason":"signed in"}"#,
      key: "\(guest.name)-merge", expecting: [200])
    tally.count("merges")
    load.merge(guest.name, into: buyer.name)
  }

  /// Someone with a subscription and a spent balance is forgotten, and Apple goes on talking.
  private func someoneIsErased() async throws {
    let gone = person("e")
    _ = try await gone.buyForSure("coins.100", "coins") { $0.coins += 100 }
    let bought = try await gone.buyForSure("pro.monthly", "pro") { $0.rights.insert("pro") }
    try await gone.has(100)
    try await gone.write(
      "entitlement-service", "spends", #"{"units":{"coins":60},"environment":"Sandbox"}"#,
      key: "\(gone.name)-spend", expecting: [200, 201])
    try await gone.write(
      "order-service", "erasure", #"{"reason":"asked for it"}"#, key: "\(gone.name)-erasure",
      expecting: [202])
    tally.count("erasures")
    load.forget(gone.name)
    try await gone.apple("subscriptions/\(bought.originalTransactionId ?? "")/renew")
  }
}

extension Buyer {
  /// Orders, buys and proves until it is decided; Apple says nothing.
  func buyForSure(_ product: String, _ deed: String, _ change: (inout Book) -> Void) async throws
    -> Bought
  {
    let order = try await order(product, deed)
    let bought = try await insist("buying") {
      try await load.way.buy(product, token: order.id, notify: false)
    }
    load.note(name, "\(deed): \(product) \(bought.transactionId ?? "") order \(order.id)", change)
    try await decided(order, bought.signedTransaction)
    return bought
  }

  /// Waits until the balance is what all that was done makes it.
  func has(_ coins: Int64) async throws {
    _ = try await eventually("\(name) has \(coins) coins", within: Self.patience) {
      let held = try? await load.way.balances(name)
      return held?.amount("coins") == coins ? true : nil
    }
  }

  /// Posts about this customer until it is answered.
  func write(
    _ service: String, _ what: String, _ body: String, key: String, expecting statuses: Set<Int>
  ) async throws {
    try await insist("posting \(what)") {
      let answer = try await load.way.send(
        "POST", service, "/v1/customers/\(name)/\(what)", body: Array(body.utf8),
        headers: [("Idempotency-Key", key)])
      guard statuses.contains(answer.status) else {
        throw UnexpectedAnswer(
          title: "\(what) of \(name), \(body), not one of \(statuses.sorted())",
          status: answer.status, text: String(decoding: answer.body, as: UTF8.self))
      }
    }
  }
}
