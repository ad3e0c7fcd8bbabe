/// Starts services in order, waits for a signal or a failure, and stops them in reverse order.
///
/// A service may depend on those before it. Each stop is bounded, and so is the whole.
public struct ServiceGroup: Sendable {
  /// What the process should exit with.
  public enum Ending: Sendable, Equatable {
    /// Stopped when asked, everything in time.
    case clean
    /// A service broke, or was late to stop.
    case failed
  }

  private let services: [any Service]
  private let log: Log
  private let stopWithin: Duration

  /// Makes a group.
  ///
  /// - Parameters:
  ///   - services: In the order of starting.
  ///   - log: Says what starts, breaks and stops.
  ///   - stopWithin: The time in which all services together must have stopped.
  public init(_ services: [any Service], log: Log, stopWithin: Duration = .seconds(9)) {
    self.services = services
    self.log = log
    self.stopWithin = stopWithin
  }

  private enum Event: Sendable {
    case asked(String)
    case ended(service: String, error: String?)
  }

  /// Runs until a signal, a failure, or `stop` completes.
  public func run(signals: ShutdownSignals?, stop: Completion<Void>? = nil) async -> Ending {
    let first = Completion<Event>()
    for service in services {
      Task {
        do {
          try await service.run()
          first.complete(with: .ended(service: service.name, error: nil))
        } catch {
          first.complete(with: .ended(service: service.name, error: String(describing: error)))
        }
      }
    }
    if let signals {
      Task { first.complete(with: .asked(await signals.first.value())) }
    }
    if let stop {
      Task {
        await stop.value()
        first.complete(with: .asked("stop"))
      }
    }

    var ending = Ending.clean
    switch await first.value() {
    case .asked(let why):
      log.info("stopping", ["why": .string(why)])
    case .ended(let service, let error):
      ending = .failed
      log.error(
        "a service ended by itself, stopping",
        ["service": .string(service), "error": .string(error ?? "returned")])
    }

    let deadline = Deadline.after(stopWithin)
    for service in services.reversed() {
      let began = ContinuousClock.now
      await bounded(by: deadline) { await service.stop(by: deadline) }
      let took = ContinuousClock.now - began
      if deadline.hasPassed {
        ending = .failed
        log.error("late to stop", ["service": .string(service.name)])
      } else {
        log.debug(
          "stopped",
          ["service": .string(service.name), "milliseconds": LogValue(took.wholeMilliseconds)])
      }
    }
    log.info("stopped", ["clean": .boolean(ending == .clean)])
    return ending
  }

  /// Waits for the work, but not past the deadline; the work itself goes on and is abandoned.
  private func bounded(by deadline: Deadline, _ work: @escaping @Sendable () async -> Void) async {
    let done = Completion<Void>()
    Task {
      await work()
      done.complete(with: ())
    }
    Task {
      try? await Task.sleep(for: deadline.remaining)
      done.complete(with: ())
    }
    await done.value()
  }
}
