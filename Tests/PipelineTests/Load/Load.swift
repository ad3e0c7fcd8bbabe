import Events
import HTTPClient
import ServiceRuntime
import Synchronization
import TestSupport

/// What a customer did, and so what must have come of it once all is quiet.
struct Book: Sendable, Equatable {
  var coins: Int64 = 0
  var rights: Set<String> = []
  /// The ids of all orders that the customer was told of.
  var orders: Set<String> = []
  /// What was done, for people who ask why.
  var deeds: [String] = []
}

/// Many customers who buy, renew, refund and hand over, each fact told once or often, in any order,
/// by the app or by Apple or by both; the same seed makes the same choices.
final class Load: Sendable {
  let way: Way
  private let seed: UInt64
  private let workers: Int
  private let books = Mutex<[String: Book]>([:])
  private let isEnding = Atomic<Bool>(false)
  /// What the names of its customers begin with.
  private let prefix: String

  /// - Parameter earlier: A load before this one, whose customers must still have what they have.
  init(_ way: Way, seed: UInt64, workers: Int, after earlier: Load? = nil) {
    prefix = earlier.map { "\($0.prefix)c" } ?? "c"
    let known = earlier?.books.withLock { $0 } ?? [:]
    books.withLock { $0 = known }
    self.way = way
    self.seed = seed
    self.workers = workers
  }

  /// No customer begins after this.
  func end() { isEnding.store(true, ordering: .releasing) }

  var hasEnded: Bool { isEnding.load(ordering: .acquiring) }

  /// Runs until told to end, and until everyone who had begun is through.
  ///
  /// - Throws: What a customer met that may not happen, whatever fails.
  func run() async throws {
    defer { end() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<workers {
        group.addTask { [self] in try await work(number) }
      }
      try await group.waitForAll()
    }
  }

  private func work(_ number: Int) async throws {
    var count = 0
    while !hasEnded {
      let name = "\(prefix)\(number)-\(count)"
      var random = SeededGenerator(
        seed: seed &* 0x9E37_79B9 &+ UInt64(number) << 32 &+ UInt64(count))
      let buyer = Buyer(load: self, name: name)
      try await buyer.live(&random)
      count += 1
    }
  }

  /// Changes what a customer must own.
  func note(_ customer: String, _ deed: String, _ change: (inout Book) -> Void = { _ in }) {
    books.withLock { books in
      books[customer, default: Book()].deeds.append(deed)
      change(&books[customer, default: Book()])
    }
  }

  /// How many customers there were, and how many orders.
  var counts: (customers: Int, orders: Int) {
    books.withLock { ($0.count, $0.values.reduce(0) { $0 + $1.orders.count }) }
  }

  /// Apple comes again with what nobody took, until nothing is left.
  func deliverEverything(within patience: Duration) async throws {
    _ = try await eventually("Apple has delivered every notification", within: patience) {
      try await redeliverFailed() == 0 ? true : nil
    }
  }

  /// Delivers again what nobody took; how many notifications are not delivered yet.
  @discardableResult
  func redeliverFailed() async throws -> Int {
    for failed in try await way.notifications("state=failed&limit=200") {
      try await way.redeliver(failed.notificationUUID)
    }
    var open = 0
    for state in ["failed", "waiting", "sending", "retrying"] {
      open += try await way.notifications("state=\(state)&limit=1").count
    }
    return open
  }

  /// What is not as the customers did it.
  func findings(_ stores: StoreContents) -> [BrokenLaw] {
    let law = "every purchase is an entitlement exactly once, every order completed"
    let books = books.withLock { $0 }
    var broken: [BrokenLaw] = []
    var orders = Dictionary(grouping: stores.orders.values, by: \.customer)
    for (customer, book) in books {
      func finding(_ text: String) {
        broken.append(
          BrokenLaw(
            law: law, subject: customer,
            finding: "\(text); it did: \(book.deeds.joined(separator: ", "))"))
      }
      let coins = stores.balances[customer]?.first { $0.unit == "coins" }?.amount ?? 0
      if coins != book.coins { finding("has \(coins) coins, must have \(book.coins)") }
      let rights = Set((stores.entitlements[customer] ?? []).map(\.name))
      if rights != book.rights { finding("has \(rights.sorted()), not \(book.rights.sorted())") }
      let known = orders.removeValue(forKey: customer) ?? []
      if Set(known.map(\.id)) != book.orders {
        finding("has \(known.count) orders, was told of \(book.orders.count)")
      }
      for order in known where order.state != .completed {
        finding("the order \(order.id) is \(order.state.rawValue)")
      }
    }
    let owning = Set(stores.entitlements.keys).union(
      stores.balances.filter { $0.value.contains { $0.amount != 0 } }.keys)
    for customer in owning.subtracting(books.keys).union(orders.keys) {
      broken.append(
        BrokenLaw(law: law, subject: customer, finding: "owns something and did nothing"))
    }
    return broken
  }
}
