import Synchronization

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
    let failedLate = LateFailure()
    for service in services {
      // Immediate, so that services start one after the other, and all before the first stop.
      Task.immediate {
        var error: String?
        do { try await service.run() } catch let thrown { error = String(describing: thrown) }
        if !first.complete(with: .ended(service: service.name, error: error)), let error {
          failedLate.happened.store(true, ordering: .releasing)
          log.error(
            "a service failed while stopping",
            ["service": .string(service.name), "error": .string(error)])
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
      let isInTime = await bounded(by: deadline) { await service.stop(by: deadline) }
      let took = ContinuousClock.now - began
      if !isInTime {
        ending = .failed
        log.error("late to stop", ["service": .string(service.name)])
      } else {
        log.debug(
          "stopped",
          ["service": .string(service.name), "milliseconds": LogValue(took.wholeMilliseconds)])
      }
    }
    if failedLate.happened.load(ordering: .acquiring) { ending = .failed }
    log.info("stopped", ["clean": .boolean(ending == .clean)])
    return ending
  }

  /// Waits for the work, but not past the deadline; the work itself goes on and is abandoned.
  ///
  /// True when the work was done in time.
  private func bounded(by deadline: Deadline, _ work: @escaping @Sendable () async -> Void) async
    -> Bool
  {
    let isDone = Completion<Bool>()
    Task.immediate {
      await work()
      isDone.complete(with: true)
    }
    let timer = Task {
      try? await Task.sleep(for: deadline.remaining)
      isDone.complete(with: false)
    }
    defer { timer.cancel() }
    return await isDone.value()
  }
}

/// Whether a service failed after the stop had begun; shared with the tasks of the services.
private final class LateFailure: Sendable {
  let happened = Atomic<Bool>(false)
}
