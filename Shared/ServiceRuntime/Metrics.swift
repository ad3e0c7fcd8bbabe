import Synchronization

/// A number that only grows.
public final class Counter: Sendable {
  private let count = Atomic<Int>(0)

  /// Adds to the count.
  public func add(_ amount: Int = 1) { count.wrappingAdd(amount, ordering: .relaxed) }

  /// The count so far.
  public var value: Int { count.load(ordering: .relaxed) }
}

/// A number that goes up and down.
public final class Gauge: Sendable {
  private let level = Atomic<Int>(0)

  /// Sets the level.
  public func set(_ value: Int) { level.store(value, ordering: .relaxed) }

  /// Moves the level.
  public func add(_ amount: Int) { level.wrappingAdd(amount, ordering: .relaxed) }

  /// The level now.
  public var value: Int { level.load(ordering: .relaxed) }
}

/// Numbers sorted into buckets: durations in seconds, or counts.
public final class Histogram: Sendable {
  /// Upper bounds for what takes a moment, in seconds.
  public static let moments: [Double] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// Upper bounds for what may take up to days, in seconds.
  public static let spans: [Double] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 14_400, 43_200,
    86_400, 259_200,
  ]
  /// Upper bounds for how many were done at once.
  public static let sizes: [Double] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

  struct State {
    var buckets: [Int]
    var sum = 0.0
    var count = 0
  }

  /// Upper bounds of the buckets, growing; a bound belongs to its bucket.
  let bounds: [Double]
  private let state: Mutex<State>

  init(bounds: [Double] = moments) {
    self.bounds = bounds
    state = Mutex(State(buckets: [Int](repeating: 0, count: bounds.count + 1)))
  }

  /// Counts one duration.
  public func record(_ duration: Duration) { record(duration.inSeconds) }

  /// Counts one number.
  public func record(_ value: Double) {
    let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
    state.withLock { state in
      state.buckets[bucket] += 1
      state.sum += value
      state.count += 1
    }
  }

  var snapshot: State { state.withLock { $0 } }
}

/// All metrics of a process, written as Prometheus text.
///
/// Asking twice for the same name and labels gives the same object.
public final class Metrics: Sendable {
  enum Instrument: Sendable {
    case counter(Counter)
    case gauge(Gauge)
    case histogram(Histogram)
    case reading(@Sendable () -> Int)
    case readings(@Sendable () -> [Reading])
  }

  /// What a family of metrics is to Prometheus.
  public enum Kind: String, Sendable { case counter, gauge, histogram }

  /// A number with its labels, read when metrics are asked for.
  public struct Reading: Sendable {
    let labels: [String: String]
    let value: Double

    /// Makes a reading.
    public init(_ value: Double, labels: [String: String] = [:]) {
      self.labels = labels
      self.value = value
    }
  }

  struct Family {
    var kind: Kind
    var help: String
    var series: [String: Instrument] = [:]
  }

  /// No more label combinations of one name are kept than this; the rest share one `overflow` series.
  public static let seriesLimit = 500

  private let families = Mutex<[String: Family]>([:])

  /// Makes an empty registry.
  public init() {}

  /// A counter; by convention its name ends in `_total`.
  public func counter(_ name: String, _ help: String, labels: [String: String] = [:]) -> Counter {
    let found = instrument(name, .counter, help, labels) { .counter(Counter()) }
    guard case .counter(let counter) = found else { return Counter() }
    return counter
  }

  /// A gauge.
  public func gauge(_ name: String, _ help: String, labels: [String: String] = [:]) -> Gauge {
    let found = instrument(name, .gauge, help, labels) { .gauge(Gauge()) }
    guard case .gauge(let gauge) = found else { return Gauge() }
    return gauge
  }

  /// A gauge that is read when metrics are asked for; a later one takes the place of an earlier one.
  public func reading(
    _ name: String, _ help: String, labels: [String: String] = [:],
    _ read: @escaping @Sendable () -> Int
  ) {
    _ = instrument(name, .gauge, help, labels, replaces: true) { .reading(read) }
  }

  /// Numbers that are read when metrics are asked for, at most `seriesLimit` of them; none is fine.
  ///
  /// A later reader takes the place of an earlier one. It runs on the thread of HTTP: it may not block.
  public func readings(
    _ name: String, _ help: String, kind: Kind = .gauge,
    _ read: @escaping @Sendable () -> [Reading]
  ) {
    _ = instrument(name, kind, help, [:], replaces: true) { .readings(read) }
  }

  /// A histogram; by convention the name of one of durations ends in `_seconds`.
  ///
  /// - Parameter bounds: Upper bounds of its buckets, growing.
  public func histogram(
    _ name: String, _ help: String, labels: [String: String] = [:],
    bounds: [Double] = Histogram.moments
  ) -> Histogram {
    let found = instrument(name, .histogram, help, labels) { .histogram(Histogram(bounds: bounds)) }
    guard case .histogram(let histogram) = found else { return Histogram(bounds: bounds) }
    return histogram
  }

  private func instrument(
    _ name: String, _ kind: Kind, _ help: String, _ labels: [String: String],
    replaces: Bool = false, _ make: () -> Instrument
  ) -> Instrument {
    var key = MetricsText.labels(labels)
    return families.withLock { families in
      // Asked for with every request: what is there is given without a copy of the family.
      if !replaces, let known = families[name]?.series[key] { return known }
      var family = families[name] ?? Family(kind: kind, help: help)
      if family.series[key] == nil && family.series.count >= Self.seriesLimit {
        key = MetricsText.labels(["overflow": "true"])
      }
      let known = replaces ? nil : family.series[key]
      let instrument = known ?? make()
      family.series[key] = instrument
      families[name] = family
      return instrument
    }
  }

  /// Everything in the Prometheus text format 0.0.4.
  public func text() -> String {
    let families = families.withLock { $0 }
    var text = ""
    for (name, family) in families.sorted(by: { $0.key < $1.key }) {
      MetricsText.append(name, family, to: &text)
    }
    return text
  }
}
