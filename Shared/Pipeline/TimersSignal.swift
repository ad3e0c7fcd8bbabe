import ServiceRuntime
import Synchronization

/// What those who change the store and the thread `timers` share: a wake-up, and what the timers know to
/// be due next, so that a change that makes nothing due earlier wakes nobody.
///
/// Almost every change of a purchase moves something that falls due in a day or a month. Asking the store
/// each time cost two hand-overs between threads for each job, just while the purchase was on its way.
final class TimersSignal: Sendable {
  let wake = Wake()
  /// UTC milliseconds; `Int64.max` when nothing is known or the timers are just looking.
  private let next = Atomic<Int64>(.max)

  /// Says that something falls due; answers whether the timers are woken for it.
  @discardableResult
  func isDue(at time: Int64) -> Bool {
    guard time < next.load(ordering: .sequentiallyConsistent) else { return false }
    wake.signal()
    return true
  }

  /// The timers begin to look: what is committed from now on may not be seen by them.
  func look() { next.store(.max, ordering: .sequentiallyConsistent) }

  /// The timers have looked, and sleep at most until that.
  func looked(nextDue time: Int64) { next.store(time, ordering: .sequentiallyConsistent) }
}
