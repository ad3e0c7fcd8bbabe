import Events
import Glibc
import Processes
import SQLite
import ServiceRuntime

/// A store with many customers: reading an entitlement over HTTP, memory, start to ready.
enum StoreFigures {
  static func measure(_ bench: Bench) throws -> [Figure] {
    let apple = try Apple()
    try bench.configure(apple)
    try bench.startBroker()
    let customers = bench.options.customers
    // The service makes its tables; the rows are then made by SQL, as a replay makes them.
    try bench.startService("entitlement-service")
    bench.stop("entitlement-service")
    try fill(bench.file("entitlement-service.sqlite"), customers)

    let (port, took) = try bench.startService("entitlement-service")
    guard let service = bench.child("entitlement-service") else { return [] }
    let fresh = Meter.memory(of: service.processID)
    let emptyPort = try Bench.freePort()
    let empty = try bench.start(
      "empty-server", "\(bench.executables)/bench", ["--serve-empty", "\(emptyPort)"])
    try bench.waitReady(emptyPort, "/direct", "empty-server")

    var answers: [Double] = []
    var reads: [Double] = []
    // Short turns after each other, as the machine's speed changes from second to second.
    let count = bench.options.isSmoke ? 300 : 3_000
    var seed: UInt64 = 7
    let key = bench.apiKey
    _ = try HTTPFigures.cost(service, port, 500) { _ in read(&seed, customers, key) }
    for _ in 0..<(bench.options.isSmoke ? 1 : 25) {
      answers.append(try HTTPFigures.cost(empty, emptyPort, "/suspended", count))
      reads.append(
        try HTTPFigures.cost(service, port, count) { _ in read(&seed, customers, key) })
    }
    // The server's one thread shall be busy for 70 % of the time. What it reaches when all its readers ask
    // as fast as they can says less: it then finds many questions at a time, which saves it most wakings.
    let second = Duration.seconds(bench.options.isSmoke ? 0.2 : 1)
    let gentle = try latency(service, port, customers, key, rate: 8_000, for: second)
    // In turns, as a machine that stands still for 50 ms makes a hundredth of a second's answers late.
    let loads = try (0..<(bench.options.isSmoke ? 1 : 8)).map { _ in
      try latency(
        service, port, customers, key, rate: 0.7 * gentle.rate / gentle.busy, for: second)
    }
    let tails = loads.map(\.p99)
    let after = Meter.memory(of: service.processID)
    return [
      Figure(
        "store.read", "entitlement read over HTTP, \(customers) customers in the store",
        1e6 / reads.median, "/CPU s",
        limit: ("the server's empty answer", 1e6 / answers.median),
        target: .init(direction: .atLeast, value: 0.5),
        notes: ["\(shown(reads.median)) µs of CPU, empty \(shown(answers.median)) µs"]),
      Figure(
        "store.read-p99", "the same while the server is busy for 70 % of the time, p99",
        tails.median,
        "ms",
        target: .init(direction: .atMost, value: 5, unit: "ms"),
        notes: [
          "\(shown(loads.map(\.rate).median)) reads/s, busy for "
            + "\(shown(100 * loads.map(\.busy).median)) % of the time, "
            + "p50 \(shown(loads.map(\.p50).median)) ms; p99 of the worst second of \(tails.count): "
            + "\(shown(tails.max() ?? 0)) ms"
        ]),
      Figure(
        "store.memory", "resident memory, \(customers) customers, after reading", after, "MB",
        target: .init(direction: .atMost, value: 100, unit: "MB"),
        notes: ["\(shown(fresh)) MB when ready"]),
      Figure(
        "store.start", "start to ready, \(customers) customers", took, "s",
        target: .init(direction: .atMost, value: 2, unit: "s")),
    ]
  }

  static func read(_ seed: inout UInt64, _ customers: Int, _ key: String) -> [UInt8] {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    let number = Int(seed >> 33) % customers
    return Request.get("/v1/customers/customer-\(number)/entitlements", key: key)
  }

  private struct Load {
    /// Milliseconds.
    let p50: Double
    let p99: Double
    /// Answers a second.
    let rate: Double
    /// CPU seconds of the server in a second.
    let busy: Double
  }

  /// Reads at a rate, each connection asking at fixed moments.
  private static func latency(
    _ service: ChildProcess, _ port: Int, _ customers: Int, _ key: String, rate: Double,
    for time: Duration
  ) throws -> Load {
    let connections = 16
    let pace = Duration.nanoseconds(Int64(1e9 * Double(connections) / rate))
    let used = Meter.cpu(of: service.processID)
    let began = ContinuousClock.now
    let times = Times()
    var threads: [DedicatedThread] = []
    for number in 0..<connections {
      threads.append(
        DedicatedThread(name: "reader-\(number)") {
          var seed = UInt64(number + 1)
          var due = began + pace * number / connections
          var asked = due
          let client = LoadClient()
          try? client.connect(port: port) { answer in
            if answer != nil { times.add((ContinuousClock.now - asked).inSeconds * 1000) }
            let wait = due - ContinuousClock.now
            if wait > .zero { usleep(UInt32(wait.inSeconds * 1e6)) }
            guard ContinuousClock.now - began < time else { return nil }
            // From the moment when it was due: a late question counts its lateness.
            asked = due
            due += pace
            return read(&seed, customers, key)
          }
          try? client.run()
        })
    }
    for thread in threads { thread.join() }
    let took = (ContinuousClock.now - began).inSeconds
    let all = times.all
    guard !all.isEmpty else { throw BenchError("no read was answered") }
    return Load(
      p50: all.percentile(0.5), p99: all.percentile(0.99), rate: Double(all.count) / took,
      busy: (Meter.cpu(of: service.processID) - used) / took)
  }

  /// Makes customers with a right each.
  ///
  /// - Parameters:
  ///   - expiresAt: When all the rights expire; nil for in a month.
  ///   - dueAt: When all are looked at; nil for in a month, a millisecond after each other.
  static func fill(
    _ path: String, _ customers: Int, expiresAt: Int64? = nil, dueAt: Int64? = nil
  ) throws {
    let now = SystemClock().now()
    var right = Entitlement(name: "pro", environment: "Sandbox", isActive: true)
    right.productId = "pro.monthly"
    right.productType = "Auto-Renewable Subscription"
    right.grantor = Grantor(
      kind: "transaction", lineage: "\(Apple.bundleID)/Sandbox/2000000000000000",
      transactionId: "2000000000000000")
    right.purchasedAt = now
    right.startedAt = now
    right.expiresAt = expiresAt ?? now + 30 * 86_400_000
    right.willRenew = true
    right.periodType = "normal"
    right.ownershipType = "PURCHASED"
    var state = ReplayFigures.state(0, now)
    if let expiresAt { state.transactions[0].expiresDate = expiresAt }
    let store = try Connection(path: path, mode: .readWrite)
    let numbers = """
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(customers))
      """
    try store.run("BEGIN")
    try store.run(
      """
      INSERT INTO customers (customer, version, updated_at, evaluated_at, due_at)
      \(numbers) SELECT 'customer-' || i, 1, ?1, ?1, ?2 + i * ?3 FROM n
      """, now, dueAt ?? now + 30 * 86_400_000, dueAt == nil ? 1 : 0)
    try store.run(
      """
      INSERT INTO entitlements (customer, environment, name, is_active, body)
      \(numbers) SELECT 'customer-' || i, 'Sandbox', 'pro', 1, ?1 FROM n
      """, try EventJSON.encode(right))
    try store.run(
      """
      INSERT INTO purchases (customer, lineage, revision, is_held, gives_rights, state)
      \(numbers) SELECT 'customer-' || i, '\(Apple.bundleID)/Sandbox/' || (2000000000000000 + i),
        1, 1, 1, ?1 FROM n
      """, try EventJSON.encode(state))
    try store.run("COMMIT")
  }
}
