import FoundationEssentials
import ServiceRuntime

/// One measured figure beside its limit.
struct Figure: Encodable, Sendable {
  enum Direction: String, Encodable, Sendable {
    case atLeast = "≥"
    case atMost = "≤"
  }

  /// What is to be reached: by the ratio to the limit where there is one, else by the value.
  struct Target: Encodable, Sendable {
    let direction: Direction
    let value: Double
    var unit: String = "×"
  }

  let name: String
  let what: String
  let value: Double
  let unit: String
  /// The limit or peer of the same run.
  var limitName: String?
  var limit: Double?
  var ratio: Double?
  var target: Target?
  var isReached: Bool?
  var notes: [String] = []

  init(
    _ name: String, _ what: String, _ value: Double, _ unit: String,
    limit: (name: String, value: Double)? = nil, ratio: Double? = nil, target: Target? = nil,
    judged: Double? = nil, notes: [String] = []
  ) {
    self.name = name
    self.what = what
    self.value = value
    self.unit = unit
    limitName = limit?.name
    self.limit = limit?.value
    self.ratio = ratio ?? limit.map { value / $0.value }
    self.target = target
    self.notes = notes
    let judged = judged ?? self.ratio ?? value
    isReached = target.map { $0.direction == .atLeast ? judged >= $0.value : judged <= $0.value }
  }
}

/// Prints figures as they come, a line each, or all of them as JSON at the end.
struct Report {
  let isJSON: Bool
  private var figures: [Figure] = []

  init(isJSON: Bool) { self.isJSON = isJSON }

  mutating func add(_ figure: Figure) {
    figures.append(figure)
    guard !isJSON else { return }
    var line = "\(padded(figure.name, 22)) \(figure.what): \(shown(figure.value)) \(figure.unit)"
    if let name = figure.limitName, let limit = figure.limit {
      line += "; \(name): \(shown(limit)) \(figure.unit)"
    }
    if let ratio = figure.ratio { line += "; ratio \(shown(ratio))" }
    if let target = figure.target {
      line += "; target \(target.direction.rawValue) \(shown(target.value)) \(target.unit)"
      line += figure.isReached == true ? "  REACHED" : "  NOT REACHED"
    }
    print(line)
    for note in figure.notes { print("\(padded("", 22))   \(note)") }
  }

  func finish() {
    guard isJSON else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    if let data = try? encoder.encode(figures) { print(String(decoding: data, as: UTF8.self)) }
  }

  private func print(_ line: String) { Log.standardOutput(line + "\n") }
}

func padded(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

/// Three significant digits or whole numbers, as a person reads them.
func shown(_ value: Double) -> String {
  guard value.isFinite else { return "\(value)" }
  if abs(value) >= 100 { return "\(Int(value.rounded()))" }
  let factor: Double = abs(value) >= 10 ? 10 : abs(value) >= 1 ? 100 : 1000
  return "\((value * factor).rounded() / factor)"
}

extension [Double] {
  var median: Double { percentile(0.5) }

  func percentile(_ part: Double) -> Double {
    guard !isEmpty else { return .nan }
    let ordered = sorted()
    return ordered[Swift.min(ordered.count - 1, Int(Double(ordered.count) * part))]
  }
}
