import HTTPServer
import ServiceRuntime

/// The simulated time, and moving it.
struct ClockRoutes: Sendable {
  private struct Move: Decodable {
    var advanceSeconds: Double?
    var set: Int64?
    var pauseMilliseconds: Int?
  }

  private struct Answer: Encodable {
    let now: Int64
    let time: String
    let offset: Int64
    var steps: Int?

    init(_ clock: SimulatedClock, steps: Int? = nil) {
      now = clock.now()
      time = rfc3339(now)
      offset = clock.offset
      self.steps = steps
    }
  }

  /// How far the clock can go beyond its start, milliseconds: 15 years.
  static let reach: Int64 = 15 * 366 * 86_400_000

  let simulator: Simulator
  let mover: ClockMover
  /// The machine's time at the start.
  let start: Int64
  let pause: Duration

  func add(to router: inout Router) {
    router.on(.get, "/control/clock", scope: nil) { _ in .json(Answer(simulator.clock)) }
    router.on(.post, "/control/clock", scope: nil) { request in
      let move: Move = try request.json()
      let target = try target(of: move)
      let pause = try pause(of: move)
      let steps = try await ControlProblems.translating {
        try await mover.move(to: target, pause: pause)
      }
      return .json(Answer(simulator.clock, steps: steps))
    }
  }

  private func target(of move: Move) throws(Problem) -> Int64 {
    let now = simulator.clock.now()
    let target: Double
    switch (move.advanceSeconds, move.set) {
    case (let seconds?, nil): target = Double(now) + seconds * 1_000
    case (nil, let time?): target = Double(time)
    default:
      throw fault("Give either advanceSeconds or set (UNIX milliseconds).")
    }
    guard target >= Double(now) else {
      throw fault(
        "The clock stands at \(now) and only goes forward: signed facts cannot be taken back. "
          + "Start the simulator again, without the file of its clock, to begin anew.")
    }
    guard target <= Double(start + Self.reach) else {
      throw fault(
        "The certificates of the simulator end; the clock goes to \(start + Self.reach) at most.")
    }
    return Int64(target)
  }

  private func pause(of move: Move) throws(Problem) -> Duration {
    guard let given = move.pauseMilliseconds else { return pause }
    guard (0...5_000).contains(given) else {
      throw fault("pauseMilliseconds is \(given); give 0 to 5000.")
    }
    return .milliseconds(given)
  }

  private func fault(_ detail: String) -> Problem {
    Problem(
      status: 422, type: "invalid-clock-move", title: "Invalid clock move", detail: detail)
  }
}
