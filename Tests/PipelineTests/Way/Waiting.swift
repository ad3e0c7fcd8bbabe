import ServiceRuntime

/// What a test waited for in vain.
struct NotInTime: Error, CustomStringConvertible {
  let description: String
}

/// Looks again and again until there is something, for as long as it may take.
///
/// - Throws: `NotInTime` with the last complaint of `look`, or what `look` throws.
func eventually<Found>(
  _ what: String, within patience: Duration = Way.patience,
  isolation: isolated (any Actor)? = #isolation,
  _ look: () async throws -> Found?
) async throws -> Found {
  let deadline = Deadline.after(patience)
  while true {
    if let found = try await look() { return found }
    guard !deadline.hasPassed else {
      throw NotInTime(description: "not within \(patience): \(what)")
    }
    try await Task.sleep(for: .milliseconds(10))
  }
}

/// Runs what blocks on a thread of its own.
func offPool<Result: Sendable>(
  _ work: @escaping @Sendable () throws -> Result
) async throws -> Result {
  let done = Completion<Swift.Result<Result, any Error>>()
  _ = DedicatedThread(name: "test-work") { done.complete(with: Swift.Result { try work() }) }
  return try await done.value().get()
}
