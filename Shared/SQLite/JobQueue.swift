import Dispatch
import Synchronization

/// A bounded queue from many callers to the threads that do the work.
final class JobQueue<Job: Sendable>: Sendable {
  enum Refusal: Sendable {
    case full
    case closed
  }

  private struct State {
    var jobs: [Job] = []
    var sleepers = 0
    var isClosed = false
  }

  private let limit: Int
  private let state = Mutex(State())
  private let wake = DispatchSemaphore(value: 0)

  init(limit: Int) { self.limit = limit }

  /// How many jobs wait.
  var count: Int { state.withLock { $0.jobs.count } }

  /// Adds a job; nil when it was taken in.
  ///
  /// Wakes a thread only when one sleeps.
  func add(_ job: Job) -> Refusal? {
    let (refusal, wakes): (Refusal?, Bool) = state.withLock { state in
      if state.isClosed { return (.closed, false) }
      if state.jobs.count >= limit { return (.full, false) }
      state.jobs.append(job)
      guard state.sleepers > 0 else { return (nil, false) }
      state.sleepers -= 1
      return (nil, true)
    }
    if wakes { wake.signal() }
    return refusal
  }

  /// Takes the oldest jobs; blocks while there are none; empty when the queue is closed and empty.
  func take(upTo count: Int) -> [Job] {
    while true {
      let taken: [Job]? = state.withLock { state in
        guard state.jobs.isEmpty else {
          let taken = Array(state.jobs.prefix(count))
          state.jobs.removeFirst(taken.count)
          return taken
        }
        if state.isClosed { return [] }
        state.sleepers += 1
        return nil
      }
      if let taken { return taken }
      wake.wait()
    }
  }

  /// Takes no more jobs; those that wait are still done.
  func close() {
    let sleepers = state.withLock { state in
      state.isClosed = true
      defer { state.sleepers = 0 }
      return state.sleepers
    }
    for _ in 0..<sleepers { wake.signal() }
  }

  /// Removes all jobs that still wait.
  func drain() -> [Job] {
    state.withLock { state in
      defer { state.jobs = [] }
      return state.jobs
    }
  }
}
