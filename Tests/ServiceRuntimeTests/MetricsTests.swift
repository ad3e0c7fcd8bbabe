import ServiceRuntime
import Testing

@Suite struct `Metrics text` {
  private let metrics = Metrics()

  private func lines() -> [String] {
    metrics.text().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  @Test func `the same name and labels are the same instrument`() {
    metrics.counter("a_total", "help", labels: ["x": "1", "y": "2"]).add(2)
    metrics.counter("a_total", "help", labels: ["y": "2", "x": "1"]).add()
    metrics.counter("a_total", "help", labels: ["x": "1"]).add()
    #expect(metrics.counter("a_total", "help", labels: ["x": "1", "y": "2"]).value == 3)
    #expect(lines().contains("a_total{x=\"1\",y=\"2\"} 3"))
    #expect(lines().contains("a_total{x=\"1\"} 1"))
  }

  @Test func `a family is declared once, before its series`() {
    metrics.gauge("level", "How high.", labels: ["of": "b"]).set(-5)
    metrics.gauge("level", "How high.", labels: ["of": "a"]).add(3)
    #expect(
      metrics.text() == """
        # HELP level How high.
        # TYPE level gauge
        level{of="a"} 3
        level{of="b"} -5

        """)
  }

  @Test(arguments: [
    ("plain", "plain"), ("back\\slash", "back\\\\slash"), ("quo\"te", "quo\\\"te"),
    ("two\nlines", "two\\nlines"), ("dos\r\nlines", "dos\r\\nlines"), ("\n", "\\n"),
    ("} 1\nforged_total 9", "} 1\\nforged_total 9"), ("číšník 👩‍🍳", "číšník 👩‍🍳"),
  ])
  func `hostile label values stay inside their quotes`(_ value: String, _ written: String) {
    metrics.counter("a_total", "help", labels: ["v": value]).add()
    let text = Array(metrics.text().utf8)
    #expect(
      text
        == Array("# HELP a_total help\n# TYPE a_total counter\na_total{v=\"\(written)\"} 1\n".utf8))
  }

  @Test func `help stays on its line`() {
    metrics.counter("a_total", "two\nlines and a \\").add()
    #expect(lines().first == "# HELP a_total two\\nlines and a \\\\")
    #expect(lines().count == 4)
  }

  @Test func `a histogram counts each duration in every bucket above it`() {
    let histogram = metrics.histogram("wait_seconds", "Waits.", labels: ["on": "disk"])
    for milliseconds in [0, 1, 3, 100, 100, 60_000] {
      histogram.record(.milliseconds(milliseconds))
    }
    let written = lines()
    #expect(written.contains("wait_seconds_bucket{on=\"disk\",le=\"0.0005\"} 1"))
    // A bound belongs to its bucket.
    #expect(written.contains("wait_seconds_bucket{on=\"disk\",le=\"0.001\"} 2"))
    #expect(written.contains("wait_seconds_bucket{on=\"disk\",le=\"0.005\"} 3"))
    #expect(written.contains("wait_seconds_bucket{on=\"disk\",le=\"0.1\"} 5"))
    #expect(written.contains("wait_seconds_bucket{on=\"disk\",le=\"10.0\"} 5"))
    #expect(written.contains("wait_seconds_bucket{on=\"disk\",le=\"+Inf\"} 6"))
    #expect(written.contains("wait_seconds_count{on=\"disk\"} 6"))
    let sum = written.first { $0.hasPrefix("wait_seconds_sum") }?.split(separator: " ").last
    #expect(abs((Double(sum ?? "") ?? 0) - 60.204) < 1e-9)
  }

  @Test func `a histogram has the bounds that it was asked for, and takes counts`() {
    let sizes = metrics.histogram("batch_records", "Records.", bounds: Histogram.sizes)
    sizes.record(1)
    sizes.record(7)
    let spans = metrics.histogram("way_seconds", "Ways.", bounds: Histogram.spans)
    spans.record(.seconds(7200))
    #expect(lines().contains("batch_records_bucket{le=\"1.0\"} 1"))
    #expect(lines().contains("batch_records_bucket{le=\"5.0\"} 1"))
    #expect(lines().contains("batch_records_bucket{le=\"10.0\"} 2"))
    #expect(lines().contains("batch_records_sum 8.0"))
    #expect(lines().contains("way_seconds_bucket{le=\"3600.0\"} 0"))
    #expect(lines().contains("way_seconds_bucket{le=\"14400.0\"} 1"))
    for bounds in [Histogram.moments, Histogram.spans, Histogram.sizes] {
      #expect(bounds == bounds.sorted() && Set(bounds).count == bounds.count)
    }
  }

  @Test func `readings with labels are taken when asked, in any number up to the limit`() {
    let level = metrics.gauge("other", "help")
    metrics.readings("lag", "help") {
      (0..<level.value).map { Metrics.Reading(Double($0) / 2, labels: ["partition": "\($0)"]) }
    }
    #expect(lines().filter { $0.hasPrefix("lag{") } == [])
    level.set(3)
    #expect(lines().filter { $0.hasPrefix("lag{") }.count == 3)
    #expect(lines().contains("lag{partition=\"1\"} 0.5"))
    level.set(Metrics.seriesLimit + 10)
    #expect(lines().filter { $0.hasPrefix("lag{") }.count == Metrics.seriesLimit)
    metrics.readings("spent_seconds_total", "help", kind: .counter) { [Metrics.Reading(1.25)] }
    #expect(lines().contains("# TYPE spent_seconds_total counter"))
    #expect(lines().contains("spent_seconds_total 1.25"))
  }

  @Test func `a flood of label values ends in one overflow series`() {
    for number in 0..<(Metrics.seriesLimit + 100) {
      metrics.counter("a_total", "help", labels: ["customer": "\(number)"]).add()
    }
    let series = lines().filter { $0.hasPrefix("a_total") }
    #expect(series.count == Metrics.seriesLimit + 1)
    #expect(series.contains("a_total{overflow=\"true\"} 100"))
    // A known one still counts for itself.
    metrics.counter("a_total", "help", labels: ["customer": "7"]).add()
    #expect(lines().contains("a_total{customer=\"7\"} 2"))
  }

  @Test func `a reading is taken when asked, and the latest one counts`() {
    let level = metrics.gauge("other", "help")
    metrics.reading("level", "help") { 1 }
    metrics.reading("level", "help") { level.value }
    level.set(41)
    #expect(lines().contains("level 41"))
    level.set(42)
    #expect(lines().contains("level 42"))
  }

  @Test func `counting from many tasks loses nothing`() async {
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<1000 {
            metrics.counter("a_total", "help").add()
            metrics.histogram("b_seconds", "help").record(.milliseconds(1))
          }
        }
      }
    }
    #expect(lines().contains("a_total 8000"))
    #expect(lines().contains("b_seconds_count 8000"))
  }
}
