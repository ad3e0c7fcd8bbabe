@unsafe @preconcurrency import Dispatch
import Glibc
import Synchronization

/// SIGTERM and SIGINT as something that can be awaited; the second signal exits at once.
///
/// Dispatch sources with the signals ignored, not `sigwait`: the main thread of an async `@main`
/// parks in Dispatch with an empty mask, so that a blocked SIGTERM would still end the process.
public final class ShutdownSignals: Sendable {
  /// Completes with the name of the first signal.
  public let first = Completion<String>()
  private let sources = Mutex<[any DispatchSourceSignal]>([])

  /// Starts to listen; SIGPIPE is ignored from now on.
  public init() {
    signal(SIGPIPE, SIG_IGN)
    let first = first
    for (number, name) in [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler { @Sendable in
        if !first.complete(with: name) { _exit(128 + number) }
      }
      source.resume()
      sources.withLock { $0.append(source) }
    }
  }
}
