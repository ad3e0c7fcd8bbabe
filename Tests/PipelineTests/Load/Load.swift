import Events
import HTTPClient
import ServiceRuntime
import Synchronization
import TestSupport

/// What a customer did, and so what must have come of it once all is quiet.
struct Book: Sendable, Equatable {
  var coins: Int64 = 0
  var rights: Set<String> = []
  /// Rights that end by themselves as time passes, and coins.
  var ending: Set<String> = []
  var endingCoins: Int64 = 0
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
  private let live: @Sendable (Buyer, inout SeededGenerator) async throws -> Void
  private let books = Mutex<[String: Book]>([:])
  private let isEnding = Atomic<Bool>(false)
  /// What the names of its customers begin with.
  private let prefix: String
  private let limit: Int

  /// Describes a load.
  ///
  /// - Parameters:
  ///   - earlier: A load before this one, whose customers must still have what they have.
  ///   - customers: With how many it ends by itself, friends and guests of customers included.
  ///   - live: What a customer does.
  init(
    _ way: Way, seed: UInt64, workers: Int, after earlier: Load? = nil, customers: Int = .max,
    live: @escaping @Sendable (Buyer, inout SeededGenerator) async throws -> Void = {
      try await $0.live(&$1)
    }
  ) {
    prefix = earlier.map { "\($0.prefix)c" } ?? "c"
    let known = earlier?.books.withLock { $0 } ?? [:]
    books.withLock { $0 = known }
    self.way = way
    self.seed = seed
    self.workers = workers
    self.live = live
    limit = customers
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
    while !hasEnded, books.withLock({ $0.count }) < limit {
      let name = "\(prefix)\(number)-\(count)"
      var random = SeededGenerator(
        seed: seed &* 0x9E37_79B9 &+ UInt64(number) << 32 &+ UInt64(count))
      try await live(Buyer(load: self, name: name), &random)
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

  /// Everything of a customer is another's from now on, orders included.
  func merge(_ customer: String, into other: String) {
    books.withLock { books in
      let book = books[customer, default: Book()]
      books[customer] = Book(deeds: book.deeds + ["became \(other)"])
      var whole = books[other, default: Book()]
      whole.coins += book.coins
      whole.rights.formUnion(book.rights)
      whole.orders.formUnion(book.orders)
      whole.deeds.append("took over \(customer)")
      books[other] = whole
    }
  }

  /// A customer was erased: nothing may be left.
  func forget(_ customer: String) {
    books.withLock { books in
      books[customer] = Book(deeds: books[customer, default: Book()].deeds + ["was erased"])
    }
  }

  /// So much time passed that everything has ended that ends by itself.
  func passTime() {
    books.withLock { books in
      for (customer, known) in books {
        var book = known
        book.deeds.append("time passed")
        book.rights.subtract(known.ending)
        book.coins -= known.endingCoins
        book.endingCoins = 0
        books[customer] = book
      }
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

  /// Delivers again what nobody took; 0 when every notification is delivered.
  @discardableResult
  func redeliverFailed() async throws -> Int {
    for failed in try await way.notifications("state=failed&limit=200") {
      try await way.redeliver(failed.notificationUUID)
    }
    return try await way.open(["failed", "waiting", "sending", "retrying"]).states
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
    // What Apple says of an erased customer's purchases is a provisional customer's.
    let isAnyoneErased = books.values.contains { $0.deeds.contains("was erased") }
    for customer in owning.subtracting(books.keys).union(orders.keys)
    where !isAnyoneErased || !customer.hasPrefix("$appstore:") {
      broken.append(
        BrokenLaw(law: law, subject: customer, finding: "owns something and did nothing"))
    }
    return broken
  }
}
