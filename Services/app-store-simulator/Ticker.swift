import ServiceRuntime

/// Lets real time pass for the store: what falls due happens without anyone asking.
final class Ticker: Service {
  let name = "ticker"
  private let simulator: Simulator
  private let log: Log
  private let stopping = Completion<Void>()
  private let ended = Completion<Void>()

  /// How late something may be done; it bears its own time all the same.
  private static let look: Duration = .milliseconds(250)

  init(simulator: Simulator, log: Log) {
    self.simulator = simulator
    self.log = log
  }

  func run() async {
    var wasBlocked = false
    while stopping.current == nil {
      do {
        try simulator.fire(upTo: simulator.clock.now())
        wasBlocked = false
      } catch {
        if !wasBlocked {
          log.warning("what is due cannot be done", ["error": LogValue(error)])
        }
        wasBlocked = true
      }
      try? await Task.sleep(for: Self.look)
    }
    ended.complete(with: ())
  }

  func stop(by deadline: Deadline) async {
    stopping.complete(with: ())
    await ended.value()
  }
}
