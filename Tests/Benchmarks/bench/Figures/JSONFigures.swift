import BenchBaselines
import Events
import FoundationEssentials
import ServiceRuntime

/// Coding of events beside Foundation's coders.
enum JSONFigures {
  static func measure(_ bench: Bench) throws -> [Figure] {
    let state = ReplayFigures.state(1, SystemClock().now())
    let bytes = try EventJSON.encode(state)
    let data = Data(bytes)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard try encoder.encode(state) == data else {
      throw BenchError("Foundation writes another text: \(try encoder.encode(state))")
    }
    let slice = bench.options.isSmoke ? 0.02 : 0.2
    var times: [[Double]] = [[], [], [], []]
    for _ in 0..<(bench.options.isSmoke ? 1 : 6) {
      times[0].append(try cost(slice) { _ = try EventJSON.encode(state) })
      times[1].append(try cost(slice) { _ = try encoder.encode(state) })
      times[2].append(
        try cost(slice) { _ = try EventJSON.decode(LineageState.self, from: bytes) })
      times[3].append(
        try cost(slice) { _ = try JSONDecoder().decode(LineageState.self, from: data) })
    }
    return [
      Figure(
        "json.encode", "a lineage state of \(bytes.count) bytes written", times[0].median,
        "µs of CPU", limit: ("Foundation", times[1].median)),
      Figure(
        "json.decode", "the same read", times[2].median, "µs of CPU",
        limit: ("Foundation", times[3].median)),
    ]
  }

  private static func cost(_ seconds: Double, _ body: () throws -> Void) throws -> Double {
    let began = baseline_thread_seconds()
    var count = 0.0
    while baseline_thread_seconds() - began < seconds {
      for _ in 0..<50 { try body() }
      count += 50
    }
    return (baseline_thread_seconds() - began) / count * 1e6
  }
}
