import Events
import Glibc
import SQLite
import ServiceRuntime

/// Many customers whose rights end at one moment: how soon the timer begins, how long it takes, and
/// what it does to reads meanwhile.
enum TimerFigures {
  static func measure(_ bench: Bench) throws -> [Figure] {
    let customers = bench.options.isSmoke ? 1000 : 100_000
    try bench.configure(try Apple())
    try bench.startBroker()
    // The service makes its tables; the rows are then made by SQL, as a replay makes them.
    try bench.startService("entitlement-service")
    bench.stop("entitlement-service")
    let due = SystemClock().now() + (bench.options.isSmoke ? 3000 : 15_000)
    try StoreFigures.fill(
      bench.file("entitlement-service.sqlite"), customers, expiresAt: due, dueAt: due + 5000)
    let (port, _) = try bench.startService("entitlement-service")

    var seed: UInt64 = 3
    func read() throws -> Double {
      let began = ContinuousClock.now
      _ = try LoadClient.ask(port: port, StoreFigures.read(&seed, customers, bench.apiKey))
      return (ContinuousClock.now - began).inSeconds * 1000
    }
    var before: [Double] = []
    // A late renewal may still come for five seconds in the sandbox; then all are due.
    let ends = due + 5000
    while SystemClock().now() < ends - 50 { before.append(try read()) }
    while SystemClock().now() < ends { usleep(1000) }
    let began = ContinuousClock.now
    var first: Double?
    var during: [Double] = []
    var fired = 0.0
    while fired < Double(customers) {
      during.append(try read())
      fired = try bench.metric("timers_fired_total{task=\"expiry\"}", port: port)
      if fired > 0 && first == nil { first = (ContinuousClock.now - began).inSeconds }
      guard ContinuousClock.now - began < .seconds(120) else {
        throw BenchError("after two minutes \(Int(fired)) of \(customers) customers were done")
      }
    }
    let took = (ContinuousClock.now - began).inSeconds
    return [
      Figure(
        "timers.first", "\(customers) rights end at once: the first is told after", first ?? took,
        "s", target: .init(direction: .atMost, value: 1, unit: "s")),
      Figure(
        "timers.rate", "rights that the timer ends a second", Double(customers) / took, "/s",
        notes: ["all of them in \(shown(took)) s"]),
      Figure(
        "timers.read-p99", "a read meanwhile, p99, a connection each", during.percentile(0.99),
        "ms",
        limit: ("the same before", before.percentile(0.99)),
        notes: [
          "p50 \(shown(during.percentile(0.5))) ms, before \(shown(before.percentile(0.5))) ms"
        ]),
    ]
  }
}
