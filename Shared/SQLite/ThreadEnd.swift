import Dispatch
import ServiceRuntime

extension DedicatedThread {
  /// Suspends until the thread has ended or the deadline has passed; true when it has ended.
  func joined(by deadline: Deadline) async -> Bool {
    let ended = Completion<Bool>()
    let timer = DispatchWorkItem { ended.complete(with: false) }
    DispatchQueue.global().asyncAfter(
      deadline: .now() + .milliseconds(Int(deadline.remaining.wholeMilliseconds)), execute: timer)
    Task {
      await joined()
      ended.complete(with: true)
    }
    defer { timer.cancel() }
    return await ended.value()
  }
}
