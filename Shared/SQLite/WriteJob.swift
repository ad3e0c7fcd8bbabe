/// A job that waits for the writer, with the way its caller learns the end.
struct WriteJob: Sendable {
  /// Does the work and gives the answer to be sent after the COMMIT.
  let run: @Sendable (Transaction) throws -> @Sendable () -> Void
  /// Sends a failure.
  let fail: @Sendable (any Error) -> Void

  init<R: Sendable>(
    _ job: @escaping @Sendable (Transaction) throws -> R,
    answer: @escaping @Sendable (Result<R, any Error>) -> Void
  ) {
    run = { transaction in
      let result = try job(transaction)
      return { answer(.success(result)) }
    }
    fail = { error in answer(.failure(error)) }
  }
}

/// The writer's queue is full: the caller should wait a little and try again.
public struct WriterBusy: Error, Sendable, Equatable, CustomStringConvertible {
  /// The store's name.
  public let store: String

  /// Makes one.
  public init(store: String) { self.store = store }

  /// Says so.
  public var description: String { "the store \(store) has too much to write; try again" }
}

/// The writer is closing or closed: nothing was written, and nothing will be in this process.
public struct WriterClosed: Error, Sendable, Equatable, CustomStringConvertible {
  /// The store's name.
  public let store: String

  /// Makes one.
  public init(store: String) { self.store = store }

  /// Says so.
  public var description: String { "the store \(store) is closed" }
}
