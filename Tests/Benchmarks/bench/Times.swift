import Synchronization

/// Measured times of several threads.
final class Times: Sendable {
  private let times = Mutex<[Double]>([])

  func add(_ time: Double) { times.withLock { $0.append(time) } }

  var all: [Double] { times.withLock { $0 } }
}
