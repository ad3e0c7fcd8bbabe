/// The Prometheus text format 0.0.4.
enum MetricsText {
  static func labels(_ labels: [String: String]) -> String {
    labels.sorted { $0.key < $1.key }
      .map { name, value in
        let escaped = value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
          .replacing("\n", with: "\\n")
        return "\(name)=\"\(escaped)\""
      }
      .joined(separator: ",")
  }

  static func append(_ name: String, _ family: Metrics.Family, to text: inout String) {
    text += "# HELP \(name) \(family.help)\n# TYPE \(name) \(family.kind)\n"
    for (labels, instrument) in family.series.sorted(by: { $0.key < $1.key }) {
      switch instrument {
      case .counter(let counter): line(name, labels, "\(counter.value)", to: &text)
      case .gauge(let gauge): line(name, labels, "\(gauge.value)", to: &text)
      case .reading(let read): line(name, labels, "\(read())", to: &text)
      case .histogram(let histogram):
        let state = histogram.snapshot
        var sum = 0
        for (index, count) in state.buckets.enumerated() {
          sum += count
          let bound = index < Histogram.bounds.count ? "\(Histogram.bounds[index])" : "+Inf"
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
