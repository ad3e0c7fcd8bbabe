import ServiceRuntime
import Synchronization

/// What the timers tell of one job.
final class TimerMetrics: Sendable {
  let held: Counter
  private let job: String
  private let fired: Counter
  private let late: Histogram
  /// When the job's next thing falls due, UTC milliseconds; `Int64.max` for never.
  private let nextDue = Atomic<Int64>(.max)

  init(_ metrics: Metrics, job: String) {
    self.job = job
    let labels = ["task": job]
    held = metrics.counter(
      "timers_held_total", "Times a due timer had to wait until the past was read.",
      labels: labels)
    fired = metrics.counter(
      "timers_fired_total", "Things that fell due and were done.", labels: labels)
    late = metrics.histogram(
      "timers_late_seconds", "From when the first of them fell due to when it was done.",
      labels: labels, bounds: Histogram.spans)
  }

  func isDue(at time: Int64?) { nextDue.store(time ?? .max, ordering: .relaxed) }

  func fired(_ count: Int, dueAt: Int64, at now: Int64) {
    nextDue.store(.max, ordering: .relaxed)
    guard count > 0 else { return }
    fired.add(count)
    late.record(Double(max(0, now - dueAt)) / 1000)
  }

  /// Shows since when each job is late at this moment, also when the thread of the timers stands still.
  static func showOverdue(_ jobs: [TimerMetrics], _ metrics: Metrics, _ clock: any WallClock) {
    guard !jobs.isEmpty else { return }
    metrics.readings(
      "timers_overdue_seconds", "Since when the first thing that is not done is due; 0 for none."
    ) {
      let now = clock.now()
      return jobs.map { one in
        let due = one.nextDue.load(ordering: .relaxed)
        return Metrics.Reading(
          due < now ? Double(now - due) / 1000 : 0, labels: ["task": one.job])
      }
    }
  }
}
