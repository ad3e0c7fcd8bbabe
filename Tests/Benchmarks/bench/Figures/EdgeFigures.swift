import BenchBaselines
import Processes
import ServiceRuntime

/// Notifications that an edge accepts, beside what three P-256 verifications cost on the same cores.
enum EdgeFigures {
  static func measure(_ bench: Bench) throws -> [Figure] {
    let apple = try Apple()
    try bench.configure(apple)
    try bench.startBroker()
    let (port, _) = try bench.startService("verify-service", ["--role", "edge"])
    let bodies = try (0..<(bench.options.isSmoke ? 100 : 1500)).map { number in
      Request.post(
        "/v1/notifications",
        "{\"signedPayload\":\"\(try apple.notification(number, token: nil))\"}")
    }
    _ = try play(port, bodies, 200, bench)

    var limits: [Double] = []
    var ratios: [Double] = []
    var whole: [Double] = []
    var rates: [Double] = []
    var notes: [String] = []
    // The machine's speed changes from second to second: each turn of the edge is held against the limit of
    // just before and just after it.
    var before = limit(bench)
    for _ in 0..<(bench.options.isSmoke ? 1 : 20) {
      var window = CPUWindow(bench.children)
      let count = bench.options.isSmoke ? 300 : 2500
      rates.append(try play(port, bodies, count, bench))
      window.end()
      whole.append(Double(count) / window.total * 2)
      notes = [window.perOperation(count), window.othersNote]
      let after = limit(bench)
      let limit = (before + after) / 2
      before = after
      limits.append(limit)
      ratios.append(Double(count) / window.seconds("verify-service") / limit)
    }
    let recorded = try bench.metric("notifications_total", port: port)
    notes.append("\(Int(recorded)) notifications counted by the edge")
    let limit = limits.median
    let spread = [0.25, 0.75].map { shown(ratios.percentile($0)) }.joined(separator: " to ")
    notes.append("half of the turns: \(spread)")
    return [
      Figure(
        "edge.cpu", "notifications per CPU second of the edge, three signatures each",
        ratios.median * limit, "/CPU s", limit: ("three P-256 verifications", limit),
        target: .init(direction: .atLeast, value: 0.6), notes: notes),
      Figure(
        "edge.rate", "notifications accepted, edge, broker and generator on two cores",
        rates.median, "/s", limit: ("three P-256 verifications on two cores", limit * 2),
        notes: [
          "with both cores for edge, broker and generator alone: \(shown(whole.median)) /s, "
            + "ratio \(shown(whole.median / limit / 2))"
        ]),
    ]
  }

  private static func limit(_ bench: Bench) -> Double {
    verifications(seconds: bench.options.isSmoke ? 0.05 : 0.2) / 3
  }

  /// Bare verifications per CPU second while both cores verify: two cores that share a physical one
  /// are slower than one that has it alone, for the limit as for the edge.
  private static func verifications(seconds: Double) -> Double {
    let rates = Times()
    let threads = (0..<2).map { number in
      DedicatedThread(name: "limit-\(number)") { rates.add(baseline_p256_verify(seconds)) }
    }
    for thread in threads { thread.join() }
    return rates.all.reduce(0, +) / 2
  }

  /// Posts so many notifications; gives how many were accepted per second.
  private static func play(_ port: Int, _ bodies: [[UInt8]], _ count: Int, _ bench: Bench) throws
    -> Double
  {
    let client = LoadClient()
    var next = 0
    for _ in 0..<64 {
      try client.connect(port: port) { answer in
        if let answer, answer.status != 200 {
          throw BenchError("a notification was answered \(answer.status): \(answer.text)")
        }
        guard next < count else { return nil }
        next += 1
        return bodies[next % bodies.count]
      }
    }
    let began = ContinuousClock.now
    try client.run()
    return Double(count) / (ContinuousClock.now - began).inSeconds
  }
}
