/// The Prometheus text format 0.0.4.
enum MetricsText {
  static func labels(_ labels: [String: String]) -> String {
    labels.sorted { $0.key < $1.key }
      .map { name, value in "\(name)=\"\(escaped(value, quotes: true))\"" }
      .joined(separator: ",")
  }

  /// By scalars: to Swift "\r\n" is one character, in which a search for "\n" finds nothing.
  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
      case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
      case "\"" where quotes: escaped.append(contentsOf: "\\\"".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }

  static func append(_ name: String, _ family: Metrics.Family, to text: inout String) {
    text += "# HELP \(name) \(escaped(family.help, quotes: false))\n"
    text += "# TYPE \(name) \(family.kind.rawValue)\n"
    for (labels, instrument) in family.series.sorted(by: { $0.key < $1.key }) {
      switch instrument {
      case .counter(let counter): line(name, labels, "\(counter.value)", to: &text)
      case .gauge(let gauge): line(name, labels, "\(gauge.value)", to: &text)
      case .reading(let read): line(name, labels, "\(read())", to: &text)
      case .readings(let read):
        let readings = read().prefix(Metrics.seriesLimit).map { (Self.labels($0.labels), $0.value) }
        for (labels, value) in readings.sorted(by: { $0.0 < $1.0 }) {
          line(name, labels, "\(value)", to: &text)
        }
      case .histogram(let histogram):
        let state = histogram.snapshot
        var sum = 0
        for (index, count) in state.buckets.enumerated() {
          sum += count
          let bound = index < histogram.bounds.count ? "\(histogram.bounds[index])" : "+Inf"
          let bucket = labels.isEmpty ? "le=\"\(bound)\"" : "\(labels),le=\"\(bound)\""
          line("\(name)_bucket", bucket, "\(sum)", to: &text)
        }
        line("\(name)_sum", labels, "\(state.sum)", to: &text)
        line("\(name)_count", labels, "\(state.count)", to: &text)
      }
    }
  }

  private static func line(_ name: String, _ labels: String, _ value: String, to text: inout String)
  {
    text += labels.isEmpty ? "\(name) \(value)\n" : "\(name){\(labels)} \(value)\n"
  }
}
