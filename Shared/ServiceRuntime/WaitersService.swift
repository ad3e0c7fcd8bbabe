/// Wakes everyone who waits when the service stops; the last to start, the first to stop.
public final class WaitersService: Service {
  /// The name that logs show.
  public let name = "waits"
  private let stopAll: @Sendable () -> Void
  private let ended = Completion<Void>()

  /// Takes what wakes all that wait, for good.
  public init(stopAll: @escaping @Sendable () -> Void) { self.stopAll = stopAll }

  /// Lasts until stopped.
  public func run() async { await ended.value() }

  /// Wakes all.
  public func stop(by deadline: Deadline) async {
    stopAll()
    ended.complete(with: ())
  }
}
