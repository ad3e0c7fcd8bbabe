import Processes
import ServiceRuntime

/// Resident memory of every service, minute by minute, while purchases go on as fast as they can.
enum MemoryFigures {
  private static let services = ["order-service", "verify-service", "entitlement-service"]
  /// Caches, pools and the allocator's arenas fill in the first minutes.
  private static let settled = 3

  static func measure(_ bench: Bench) throws -> [Figure] {
    let apple = try Apple()
    try bench.configure(apple)
    try bench.startBroker()
    let (port, _) = try bench.startService("order-service")
    try bench.startService("verify-service")
    try bench.startService("entitlement-service")

    let minutes = 10
    var levels: [[Double]] = []
    var purchases = 0
    for minute in 0..<minutes {
      let load = Load(
        bench, apple, [port], name: "minute-\(minute)", first: (minute + 1) * 10_000_000)
      _ = try load.play(seconds: bench.options.isSmoke ? 0.3 : 60)
      purchases += load.tally.accepted
      levels.append(services.map { Meter.memory(of: bench.child($0)?.processID) })
    }
    return services.enumerated().map { index, name in
      let levels = levels.map { $0[index] }
      return Figure(
        "memory.\(name)",
        "\(name): resident memory after \(minutes) minutes of load beyond that after \(settled)",
        levels[minutes - 1] - levels[settled - 1], "MB",
        target: .init(direction: .atMost, value: 8, unit: "MB"),
        notes: [
          "\(purchases) purchases; MB after each minute: "
            + levels.map(shown).joined(separator: ", ")
        ])
    }
  }
}
