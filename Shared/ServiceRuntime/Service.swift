/// A part of a process that lives from start to stop.
public protocol Service: Sendable {
  /// The name that logs show.
  var name: String { get }

  /// Runs until stopped (returns) or broken (throws); either way the whole group then stops.
  func run() async throws

  /// Asks the service to end and returns when it has ended or the deadline has passed.
  ///
  /// Called at most once, and only after `run()` was called.
  func stop(by deadline: Deadline) async
}
