import Events
import HTTPClient
import ServiceRuntime
import Testing

/// One customer of the load, with an app that tries again until it is answered.
struct Buyer: Sendable {
  let load: Load
  let name: String
  private var way: Way { load.way }

  /// How long a customer goes on trying: longer than any fault lasts.
  static let patience = Duration.seconds(120)

  init(load: Load, name: String) {
    self.load = load
    self.name = name
  }

  /// Some deeds, each kind of right at most once.
  func live(_ random: inout some RandomNumberGenerator) async throws {
    var once = ["themes", "pro", "season"].shuffled(using: &random)
    for deed in 0..<Int.random(in: 1...4, using: &random) {
      let wanted = Bool.random(using: &random) ? once.popLast() : nil
      switch wanted {
      case "themes": try await buyThemes(deed, &random)
      case "pro": try await subscribe(deed, &random)
      case "season": try await buySeason(deed, &random)
      default: try await buyCoins(deed, &random)
      }
    }
  }

  private func buyCoins(_ deed: Int, _ random: inout some RandomNumberGenerator) async throws {
    let quantity = Int.random(in: 1...3, using: &random)
    // Some apps forget the token: then only the proof says whose it is.
    let bearsToken = chance(9, of: 10, &random)
    let bought = try await buy(
      "coins.100", quantity: quantity, deed, bearsToken: bearsToken, &random
    ) { $0.coins += Int64(quantity) * 100 }
    guard chance(1, of: 6, &random) else { return }
    try await refund(bought, deed, &random) { $0.coins -= Int64(quantity) * 100 }
  }

  private func buySeason(_ deed: Int, _ random: inout some RandomNumberGenerator) async throws {
    _ = try await buy("season.pass", deed, &random) { book in
      book.rights.insert("season")
      book.ending.insert("season")
    }
  }

  private func buyThemes(_ deed: Int, _ random: inout some RandomNumberGenerator) async throws {
    let bought = try await buy("themes.all", deed, &random) { $0.rights.insert("themes") }
    switch Int.random(in: 0..<4, using: &random) {
    case 0: try await refund(bought, deed, &random) { $0.rights.remove("themes") }
    case 1: try await handOver(bought, deed)
    default: break
    }
  }

  private func subscribe(_ deed: Int, _ random: inout some RandomNumberGenerator) async throws {
    let bought = try await buy("pro.monthly", deed, &random) { $0.rights.insert("pro") }
    let id = bought.originalTransactionId ?? ""
    let renewals = Int.random(in: 0...2, using: &random)
    for _ in 0..<renewals {
      try await apple("subscriptions/\(id)/renew")
      load.note(name, "\(deed): renewed")
    }
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      try await apple("subscriptions/\(id)/cancel")
      load.note(name, "\(deed): cancelled") { $0.ending.insert("pro") }
    // Periods that were renewed early stand until their own end; only a single one can go now.
    case 1 where renewals == 0:
      try await apple("subscriptions/\(id)/expire")
      load.note(name, "\(deed): ran out") { $0.rights.remove("pro") }
    case 2 where renewals == 0:
      try await refund(bought, deed, &random) { $0.rights.remove("pro") }
    default: break
    }
  }

  /// Order and purchase, then proof and notification: at least one of them, each up to three times.
  private func buy(
    _ product: String, quantity: Int = 1, _ deed: Int, bearsToken: Bool = true,
    _ random: inout some RandomNumberGenerator, _ change: (inout Book) -> Void
  ) async throws -> Bought {
    // What Apple will do next is told by notification alone, so a subscription always has it.
    let isNotified = product == "pro.monthly" || Bool.random(using: &random)
    let fewest = isNotified && bearsToken ? 0 : 1
    let proofs = Int.random(in: fewest...3, using: &random)
    let repeats = isNotified && chance(1, of: 4, &random)

    let order = try await order(product, quantity: quantity, "\(deed)")
    let bought = try await insist("buying") {
      try await way.buy(
        product, token: bearsToken ? order.id : nil, quantity: quantity, notify: isNotified)
    }
    load.note(
      name,
      "\(deed): \(quantity) \(product) \(bought.transactionId ?? "") order \(order.id)"
        + "\(isNotified ? ", notified" : "")\(bearsToken ? "" : ", no token"), \(proofs) proofs",
      change)
    for _ in 0..<proofs {
      _ = try await prove(
        order, bought.signedTransaction, wait: Int.random(in: 0...3, using: &random))
    }
    if repeats, let uuid = bought.notificationUUID { _ = try? await way.redeliver(uuid) }
    return bought
  }

  /// Apple tells of the refund, or the app does with a fresh copy of the transaction.
  private func refund(
    _ bought: Bought, _ deed: Int, _ random: inout some RandomNumberGenerator,
    _ change: (inout Book) -> Void
  ) async throws {
    let id = bought.transactionId ?? ""
    let isNotified = Bool.random(using: &random)
    try await apple("transactions/\(id)/refund", notify: isNotified)
    load.note(name, "\(deed): refunded\(isNotified ? ", notified" : "")", change)
    guard !isNotified else { return }
    let order = try await order("coins.100", "\(deed)-refund")
    try await decided(order, try await freshCopy(id))
  }

  /// Another customer proves the purchase with a copy that is newer than every move so far.
  private func handOver(_ bought: Bought, _ deed: Int) async throws {
    let own = try await order("themes.all", "\(deed)-own")
    try await decided(own, bought.signedTransaction)
    let friend = Buyer(load: load, name: "\(name)-friend")
    let order = try await friend.order("themes.all", "\(deed)-friend")
    let copy = try await freshCopy(bought.transactionId ?? "")
    try await friend.decided(order, copy)
    load.note(name, "\(deed): handed over") { $0.rights.remove("themes") }
    load.note(friend.name, "took over") { $0.rights.insert("themes") }
  }

  func order(_ product: String, quantity: Int = 1, _ deed: String) async throws -> Order {
    let order = try await insist("ordering") {
      try await way.order(name, product, quantity: quantity, idempotencyKey: "\(name)/\(deed)")
    }
    load.note(name, "\(deed): ordered") { $0.orders.insert(order.id) }
    return order
  }

  private func prove(_ order: Order, _ signed: String?, wait: Int) async throws -> Proved {
    let signed = try #require(signed)
    return try await insist("proving") { try await way.prove(order.id, signed, wait: wait) }
  }

  /// Proves and does not rest before the outcome is there, which must be a good one.
  func decided(_ order: Order, _ signed: String?) async throws {
    _ = try await eventually("\(name)'s proof is decided", within: Self.patience) {
      try await prove(order, signed, wait: 5).outcome
    }
  }

  private func freshCopy(_ id: String) async throws -> String? {
    try await insist("signing") { try await way.apple("transactions/\(id)/sign").signedTransaction }
  }

  func apple(_ command: String, notify: Bool = true) async throws {
    try await insist("Apple") { _ = try await way.apple(command, notify: notify) }
  }

  func chance(_ some: Int, of all: Int, _ random: inout some RandomNumberGenerator) -> Bool {
    Int.random(in: 0..<all, using: &random) < some
  }

  /// Tries again when nobody answers or the answer is to come again; everything else is a fault.
  func insist<Answer>(_ what: String, _ attempt: () async throws -> Answer) async throws
    -> Answer
  {
    try await eventually("\(name) is answered when \(what)", within: Self.patience) {
      do {
        return try await attempt()
      } catch is HTTPClientError {
        try await Task.sleep(for: .milliseconds(50))
        return nil
      } catch let answer as UnexpectedAnswer where answer.status == 503 {
        try await Task.sleep(for: .milliseconds(50))
        return nil
      }
    }
  }
}
