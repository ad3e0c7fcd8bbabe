import ServiceRuntime
import Synchronization

/// An answer whose body comes bit by bit, such as server-sent events.
public final class OpenAnswer: Sendable {
  private let job: Job
  private let body: ComingBody
  private let giveUp: @Sendable () -> Void
  private let taken = Mutex(HTTPResponse(status: 0))

  init(job: Job, body: ComingBody, giveUp: @escaping @Sendable () -> Void) {
    self.job = job
    self.body = body
    self.giveUp = giveUp
  }

  func take(_ head: HTTPResponse) { taken.withLock { $0 = head } }

  /// Status and header fields; its body is empty.
  public var head: HTTPResponse { taken.withLock { $0 } }

  /// Hands over the body as it comes; returns at its end, or when the task is cancelled.
  ///
  /// - Parameter take: Gets each piece, on the worker's thread or this task's; false ends the transfer.
  public func read(_ take: @escaping @Sendable ([UInt8]) -> Bool) async {
    if !body.attach(take) { giveUp() }
    _ = await withTaskCancellationHandler {
      await job.done.value()
    } onCancel: {
      giveUp()
    }
  }

  /// Ends the transfer.
  public func close() { giveUp() }
}

/// A body on its way from the worker's thread to who reads it.
final class ComingBody: Sendable {
  private struct State {
    var pending: [UInt8] = []
    var reader: (@Sendable ([UInt8]) -> Bool)?
  }

  /// So much may come before somebody reads.
  private static let limit = 256 * 1024

  let head = Completion<Job.Outcome>()
  private let state = Mutex(State())

  func begin(_ status: Int, _ headers: [(String, String)]) {
    head.complete(with: .success(HTTPResponse(status: status, headers: headers)))
  }

  func end(_ outcome: Job.Outcome) { head.complete(with: outcome) }

  /// Takes a piece; false ends the transfer.
  func take(_ bytes: [UInt8]) -> Bool {
    // Handed over under the lock: pieces must not overtake what waited for the reader.
    state.withLock { state in
      if let reader = state.reader { return reader(bytes) }
      guard state.pending.count + bytes.count <= Self.limit else { return false }
      state.pending += bytes
      return true
    }
  }

  func attach(_ reader: @escaping @Sendable ([UInt8]) -> Bool) -> Bool {
    state.withLock { state in
      let pending = state.pending
      state.pending = []
      state.reader = reader
      return pending.isEmpty || reader(pending)
    }
  }
}
