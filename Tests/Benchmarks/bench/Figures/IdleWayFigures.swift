import Events
import Glibc
import Kafka
import Processes
import ServiceRuntime

/// The way of one purchase through an idle stack, beside four of the broker's own round trips.
enum IdleWayFigures {
  static func measure(_ bench: Bench) throws -> [Figure] {
    let apple = try Apple()
    try bench.configure(apple)
    try bench.startBroker()
    let order = try bench.startService("order-service")
    let verify = try bench.startService("verify-service")
    let entitlement = try bench.startService("entitlement-service")
    let subscriber = try Subscriber(bench)
    defer { subscriber.close() }
    let echo = try Echo(bench)
    defer { echo.close() }

    let rounds = bench.options.isSmoke ? 10 : 300
    var trips: [Double] = []
    var ways: [Double] = []
    for number in 0..<rounds {
      // Uneven pauses, so that no timer of anybody is met again and again.
      usleep(UInt32(5_000 + (number * 7919) % 60_000))
      let trip = try echo.trip(number)
      usleep(UInt32(5_000 + (number * 104_729) % 60_000))
      let way = try way(number, order.port, apple, subscriber, bench)
      guard number >= rounds / 20 else { continue }
      trips.append(trip)
      ways.append(way)
    }
    let four = 4 * trips.median
    let note =
      "the broker's own round trip: p50 \(shown(trips.median)), p99 \(shown(trips.percentile(0.99))) ms"
    var figures = [
      Figure(
        "way.p50", "order → proof → entitlement event read, idle, p50", ways.median, "ms",
        limit: ("four round trips of the broker", four), ratio: nil,
        target: .init(direction: .atMost, value: 6, unit: "ms beyond"),
        judged: ways.median - four,
        notes: ["beyond: \(shown(ways.median - four)) ms; \(note)"]),
      Figure(
        "way.p99", "the same, p99", ways.percentile(0.99), "ms",
        limit: ("four round trips of the broker, p50", four),
        target: .init(direction: .atMost, value: 20, unit: "ms beyond"),
        judged: ways.percentile(0.99) - four,
        notes: ["beyond: \(shown(ways.percentile(0.99) - four)) ms"]),
    ]
    for (name, took) in [
      ("order-service", order.took), ("verify-service", verify.took),
      ("entitlement-service", entitlement.took),
    ] {
      figures.append(
        Figure(
          "start.\(name)", "from start to ready, empty store", took * 1000, "ms",
          notes: ["\(shown(Meter.memory(of: bench.child(name)?.processID))) MB resident"]))
    }
    return figures
  }

  private static func way(
    _ number: Int, _ port: Int, _ apple: Apple, _ subscriber: Subscriber, _ bench: Bench
  ) throws -> Double {
    let customer = "idle-\(number)"
    let client = LoadClient()
    var signing = Duration.zero
    let began = ContinuousClock.now
    try client.connect(port: port) { answer in
      guard let answer else {
        return Request.post(
          "/v1/orders", "{\"customer\":\"\(customer)\",\"productId\":\"pro.monthly\"}",
          key: bench.apiKey)
      }
      if answer.status == 202 || answer.status == 200 { return nil }
      guard answer.status == 201, let id = answer.member("id") else {
        throw BenchError("an order was answered \(answer.status): \(answer.text)")
      }
      // Apple signs on machines of its own.
      let asked = ContinuousClock.now
      let signed = try apple.transaction(number, isSubscription: true, token: id)
      signing = ContinuousClock.now - asked
      return Request.post(
        "/v1/orders/\(id)/proofs", "{\"signedTransaction\":\"\(signed)\"}", key: bench.apiKey)
    }
    try client.run()
    let arrival = try subscriber.arrival(of: customer, within: 30)
    return (arrival - began - signing).inSeconds * 1000
  }
}

/// Measures how long a record takes from `produce` with acks=all until a consumer has it.
private final class Echo {
  private let producer: Producer
  private let consumer: Consumer
  private let topic = "bench-echo"

  init(_ bench: Bench) throws {
    let admin = try Admin(bench.kafka, name: "bench-echo", log: .silent, metrics: Metrics())
    defer { admin.closeAndWait() }
    try admin.create(
      [
        TopicSpecification(
          name: topic, partitions: TopicNames.defaultPartitions, replicationFactor: -1,
          settings: [:])
      ], timeout: .seconds(10))
    producer = try Producer(bench.kafka, name: "bench-echo", log: .silent, metrics: Metrics())
    consumer = try Consumer(
      bench.kafka, groupID: "bench-echo", name: "bench-echo", log: .silent, metrics: Metrics())
    var positions: [TopicPartition: Int64] = [:]
    for number in 0..<Int32(TopicNames.defaultPartitions) {
      let partition = TopicPartition(topic, number)
      positions[partition] = try consumer.watermarks(partition, timeout: .seconds(10)).high
    }
    try consumer.assign(positions)
  }

  func trip(_ number: Int) throws -> Double {
    let record = Record(
      topic: topic, key: Array("key-\(number)".utf8), value: [UInt8](repeating: 120, count: 1000))
    let began = ContinuousClock.now
    try producer.enqueue(record) { _ in }
    while try consumer.poll(maximum: 10, timeout: .seconds(5)).isEmpty {}
    return (ContinuousClock.now - began).inSeconds * 1000
  }

  func close() {
    consumer.close()
    producer.closeAndWait(by: .after(.seconds(1)))
  }
}
