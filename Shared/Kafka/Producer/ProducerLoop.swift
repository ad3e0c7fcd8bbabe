import CRdkafka
import ServiceRuntime
import Synchronization

/// The life of the thread `kafka-poll`: it serves reports, answers who waits for a flush, and ends
/// the client.
final class ProducerLoop: Sendable {
  private struct Flush {
    let deadline: Deadline
    let answer: Completion<Bool>
  }

  private struct State {
    var flushes: [Flush] = []
    /// When what is still outstanding is given up; set when closing begins.
    var purgeAt: Deadline?
  }

  let room = ProducerRoom()
  private let client: ClientHandle
  private let state = Mutex(State())

  init(_ client: ClientHandle) { self.client = client }

  /// Asks whether all reports come in by a deadline.
  func flush(by deadline: Deadline) -> Completion<Bool> {
    let answer = Completion<Bool>()
    state.withLock { $0.flushes.append(Flush(deadline: deadline, answer: answer)) }
    client.interruptServe()
    return answer
  }

  /// Begins the end: flush until shortly before the deadline, then purge.
  func close(by deadline: Deadline) {
    // Purging and destroying take some time of their own.
    let left = deadline.remaining
    let purgeAt = Deadline.after(left - min(.milliseconds(300), left / 2))
    client.refuse()
    state.withLock { state in
      state.purgeAt = state.purgeAt.map { min($0, purgeAt) } ?? purgeAt
    }
    client.interruptServe()
  }

  /// Runs until the producer is closed and every record has its report.
  func run() {
    var nextPurge: Deadline?
    while true {
      client.serve(milliseconds: patience(nextPurge))
      room.advance()
      // In this order: once closing has begun and nobody is enqueuing, the count can only fall.
      let purgeAt = state.withLock { $0.purgeAt }
      let isUnused = client.isUnused
      let underWay = client.context.deliveries.underWay
      answerFlushes(underWay)
      if purgeAt != nil && isUnused && underWay == 0 { break }
      let mustPurge = purgeAt?.hasPassed == true || client.context.fatal != nil
      // Reports of purged records come through the queue we serve; should any be left, once more.
      if mustPurge && underWay > 0 && nextPurge?.hasPassed != false {
        purge()
        nextPurge = .after(.seconds(1))
      }
    }
    client.destroy()
    room.advance()
    answerFlushes(0)
  }

  /// The time to wait for events, at most a second, at least one millisecond.
  private func patience(_ nextPurge: Deadline?) -> Int32 {
    var times = state.withLock { state in
      state.flushes.map(\.deadline) + [state.purgeAt, nextPurge].compactMap { $0 }
    }
    if !client.isUnused { times.append(.after(.milliseconds(1))) }
    let left = times.map { $0.remaining.wholeMilliseconds + 1 }.min() ?? 1000
    return Int32(clamping: min(left, 1000))
  }

  private func answerFlushes(_ underWay: Int) {
    let due: [Flush] = state.withLock { state in
      let due = state.flushes.filter { underWay == 0 || $0.deadline.hasPassed }
      guard !due.isEmpty else { return [] }
      state.flushes.removeAll { underWay == 0 || $0.deadline.hasPassed }
      return due
    }
    for flush in due { flush.answer.complete(with: underWay == 0) }
  }

  private func purge() {
    unsafe try? client.use(asOwner: true) { handle in
      _ = unsafe rd_kafka_purge(handle, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT)
    }
  }
}
