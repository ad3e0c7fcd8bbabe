import ServiceRuntime
import Synchronization

/// Moves the clock step by step, so that everything due on the way happens in its order.
///
/// At each step the clock stands at the time of what happens, its notification is tried, and only
/// then time goes on: a service that reads the same clock hears of a renewal before it sees the end
/// of the former period.
final class ClockMover: Service {
  let name = "clock"
  private let simulator: Simulator
  private let isMoving = Atomic<Bool>(false)
  private let stopping = Completion<Void>()

  /// A leap longer than this gets the pause before it, if something may have happened since the last.
  private static let leap: Int64 = 10_000

  init(simulator: Simulator) { self.simulator = simulator }

  func run() async { await stopping.value() }

  /// Ends a move where it is, so that its request is answered before the server stops.
  func stop(by deadline: Deadline) async {
    simulator.beginStopping()
    stopping.complete(with: ())
  }

  /// The clock is being moved already.
  struct Busy: Error {}

  /// Moves to a time that is not past.
  ///
  /// - Parameter pause: How long readers get, in real time, before the clock leaps away from what
  ///   happened; they hear of it over a broker.
  /// - Returns: How many steps it took.
  func move(to target: Int64, pause: Duration) async throws -> Int {
    guard !isMoving.exchange(true, ordering: .acquiringAndReleasing) else { throw Busy() }
    defer { isMoving.store(false, ordering: .releasing) }
    var steps = 0
    // What was done just before is on its way, too.
    var isFresh = true
    var now = simulator.clock.now()
    try simulator.fire(upTo: now)
    await simulator.quiet(at: now)
    try simulator.checkRunning()
    var next = try simulator.fire(upTo: now)
    while let due = next, due <= target {
      try Task.checkCancellation()
      try simulator.checkRunning()
      if isFresh, due - now > Self.leap {
        try await Task.sleep(for: pause)
        isFresh = false
      }
      try simulator.clock.advance(to: due)
      try simulator.fire(upTo: due)
      await simulator.quiet(at: due)
      now = simulator.clock.now()
      next = try simulator.fire(upTo: due)
      isFresh = true
      steps += 1
    }
    try simulator.checkRunning()
    if isFresh, target - now > Self.leap { try await Task.sleep(for: pause) }
    try simulator.clock.advance(to: target)
    return steps
  }
}
