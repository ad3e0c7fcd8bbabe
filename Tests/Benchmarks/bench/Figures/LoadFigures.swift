import BenchBaselines
import Events
import Kafka
import ServiceRuntime

/// Purchases sustained on two cores that broker, services and generator share, and whether any was
/// lost or doubled.
enum LoadFigures {
  static func measure(_ bench: Bench) throws -> [Figure] {
    let apple = try Apple()
    try bench.configure(apple)
    try bench.startBroker()
    let ports = try bench.startShards("order-service")
    try bench.startShards("verify-service")
    try bench.startShards("entitlement-service")
    let subscriber = try Subscriber(bench)
    defer { subscriber.close() }

    // One after the other: a short load to warm up, then the measured one.
    var load = Load(bench, apple, ports, name: "warm", first: 0)
    _ = try load.play(seconds: bench.options.isSmoke ? 0.3 : 2)
    let warm = load
    load = Load(bench, apple, ports, name: "load", first: 1_000_000)
    var window = CPUWindow(bench.children)
    let rate = try load.play(seconds: bench.options.seconds)
    let purchases = load.tally.accepted
    let expected = warm.tally.accepted + purchases
    let isAll = subscriber.waitFor(expected, within: 60)
    window.end()
    // Time for what must not come: an event too many.
    _ = subscriber.waitFor(expected + 1, within: 1)
    let seen = subscriber.snapshot

    var faults: [String] = []
    if !isAll { faults.append("\(expected - seen.count) events are missing") }
    if seen.count > expected { faults.append("\(seen.count - expected) events too many") }
    if !seen.breaks.isEmpty {
      faults.append("\(seen.breaks.count) versions out of line, first \(seen.breaks[0])")
    }
    if let fault = seen.fault { faults.append("the subscriber met \(fault)") }
    let completed = warm.tally.completed + load.tally.completed
    if completed != expected { faults.append("\(completed) orders completed, not \(expected)") }
    if seen.activated != warm.tally.subscriptions + load.tally.subscriptions {
      faults.append("\(seen.activated) rights came")
    }
    let letters = try deadLetters(bench)
    if letters != 0 { faults.append("\(letters) dead letters") }
    let shares = window.all
    let alone = Double(purchases) / window.total * 2
    // A crowded machine makes everything dearer; this says by how much.
    let verification = 1e6 / baseline_p256_verify(bench.options.isSmoke ? 0.02 : 0.3)
    let cost = window.total / Double(purchases) * 1e6
    return [
      Figure(
        "load.purchases", "purchases/s: order, signed purchase, proof, entitlement", rate, "/s",
        target: .init(direction: .atLeast, value: 1200, unit: "/s"),
        notes: [
          window.perOperation(purchases),
          "\(window.othersNote); with both cores to themselves: \(shown(alone)) /s "
            + "(\(shown(window.total / shares * 100)) % of the cores were ours)",
          "\(shown(cost)) µs of CPU in all, \(shown(cost / verification)) P-256 verifications of "
            + "\(shown(verification)) µs",
          "answer to the app with `Prefer: wait`: p50 \(shown(load.tally.waits.median)), "
            + "p99 \(shown(load.tally.waits.percentile(0.99))) ms, "
            + "\(bench.options.connections) purchases at a time, \(bench.options.shards) shards",
          "generator, signer included: "
            + "\(shown(window.seconds("generator") / window.total * 100)) % of that CPU",
        ]),
      Figure(
        "load.exact", "purchases lost, doubled or out of line of \(expected)",
        Double(faults.count), "faults", target: .init(direction: .atMost, value: 0, unit: "faults"),
        notes: faults.isEmpty
          ? [
            "\(completed) orders completed, \(seen.activated) rights, \(seen.credited) credits, "
              + "\(seen.versions.count) customers whose versions have no gap, no dead letter"
          ] : faults),
    ]
  }

  private static func deadLetters(_ bench: Bench) throws -> Int64 {
    let consumer = try Consumer(
      bench.kafka, groupID: "bench-letters", name: "bench-letters", log: .silent,
      metrics: Metrics())
    defer { consumer.close() }
    return try (0..<Int32(TopicNames.defaultPartitions)).reduce(0) { sum, number in
      let partition = TopicPartition(bench.topics.name(of: .deadLetters), number)
      return sum + (try consumer.watermarks(partition, timeout: .seconds(10)).high)
    }
  }
}

/// Customers who each buy a subscription and three bags of coins, one purchase after the other.
final class Load {
  struct Tally {
    var accepted = 0
    var completed = 0
    var subscriptions = 0
    var waits: [Double] = []
  }

  private(set) var tally = Tally()
  private let bench: Bench
  private let apple: Apple
  private let ports: [Int]
  private let name: String
  private var next: Int

  init(_ bench: Bench, _ apple: Apple, _ ports: [Int], name: String, first: Int) {
    self.bench = bench
    self.apple = apple
    self.ports = ports
    self.name = name
    next = first
  }

  /// Plays for a time and finishes what was begun; gives purchases per second.
  func play(seconds: Double) throws -> Double {
    let client = LoadClient()
    let end = Deadline.after(.microseconds(Int64(seconds * 1e6)))
    let began = ContinuousClock.now
    for number in 0..<bench.options.connections {
      let buyer = Buyer(load: self, customer: "\(name)-\(number)", end: end)
      try client.connect(port: ports[number % ports.count]) { answer in try buyer.next(answer) }
    }
    try client.run()
    return Double(tally.accepted) / (ContinuousClock.now - began).inSeconds
  }

  private final class Buyer {
    private let load: Load
    private let connection: String
    private let end: Deadline
    private var purchases = 0
    private var isSubscription = false
    private var posted = ContinuousClock.now

    init(load: Load, customer: String, end: Deadline) {
      self.load = load
      connection = customer
      self.end = end
    }

    func next(_ answer: Answer?) throws -> [UInt8]? {
      guard let answer else { return order() }
      switch answer.status {
      case 201:
        guard let id = answer.member("id") else { throw BenchError("an order without id") }
        let signed = try load.apple.transaction(
          load.next, isSubscription: isSubscription, token: id)
        load.next += 2
        posted = ContinuousClock.now
        return Request.post(
          "/v1/orders/\(id)/proofs", "{\"signedTransaction\":\"\(signed)\"}",
          key: load.bench.apiKey, wait: 30)
      case 200:
        guard answer.contains("\"outcome\":\"accepted\"") else {
          throw BenchError("a proof was not accepted: \(answer.text)")
        }
        load.tally.accepted += 1
        if isSubscription { load.tally.subscriptions += 1 }
        if answer.contains("\"state\":\"completed\"") { load.tally.completed += 1 }
        load.tally.waits.append((ContinuousClock.now - posted).inSeconds * 1000)
        return end.hasPassed ? nil : order()
      default:
        throw BenchError("a purchase was answered \(answer.status): \(answer.text)")
      }
    }

    /// The customer's first purchase is the subscription, the next three are coins.
    private func order() -> [UInt8] {
      let customer = "\(connection)-\(purchases / 4)"
      isSubscription = purchases % 4 == 0
      purchases += 1
      let product = isSubscription ? "pro.monthly" : "coins.100"
      return Request.post(
        "/v1/orders", "{\"customer\":\"\(customer)\",\"productId\":\"\(product)\"}",
        key: load.bench.apiKey)
    }
  }
}
