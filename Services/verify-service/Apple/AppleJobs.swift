import AppStore
import ServiceRuntime
import Synchronization

/// What a job wants after a step.
enum AppleStep: Sendable, Equatable {
  /// There is more to do.
  case again
  /// Nothing is to do for so long.
  case rest(Duration)
}

/// Work that asks Apple, a step at a time; its progress is in the store after each step, so that it
/// may be killed at any moment.
protocol AppleJob: Sendable {
  /// The name that logs, metrics and `GET /v1/admin/jobs` show.
  var name: String { get }
  /// The app and environment that it works for; nil for all.
  var lane: AppleLane? { get }
  /// Does a bounded piece of work.
  func step() async throws -> AppleStep
}

/// Runs the jobs, each in a task of its own, none on the way of a record.
final class AppleJobs: Service {
  let name = "apple-jobs"
  private let jobs: [any AppleJob]
  private let log: Log
  private let metrics: Metrics
  private let tasks = Mutex<[Task<Void, Never>]>([])
  private let ended = Completion<Void>()

  /// After a failure a job waits so long, twice as long after each next one, up to the bound.
  static let firstPause = Duration.seconds(1)
  static let longestPause = Duration.seconds(300)
  /// A job that always has more to do lets others pass in between.
  private static let breath = Duration.milliseconds(1)

  init(jobs: [any AppleJob], log: Log, metrics: Metrics) {
    self.jobs = jobs
    self.log = log
    self.metrics = metrics
  }

  func run() async {
    let started = jobs.map { job in Task { [self] in await work(job) } }
    tasks.withLock { $0 = started }
    await ended.value()
  }

  /// Cuts off what is under way: each step is whole or did not happen.
  func stop(by deadline: Deadline) async {
    let started = tasks.withLock { $0 }
    for task in started { task.cancel() }
    for task in started { await task.value }
    ended.complete(with: ())
  }

  private func work(_ job: any AppleJob) async {
    var failures = 0
    while !Task.isCancelled {
      let pause: Duration
      do {
        switch try await job.step() {
        case .again: pause = Self.breath
        case .rest(let time): pause = time
        }
        failures = 0
        count(job, "done")
      } catch {
        guard !Task.isCancelled else { return }
        failures += 1
        pause = Self.pause(after: error, failures: failures, random: .random(in: 0..<1))
        count(job, "failed")
        log.warning(
          "a job that asks Apple failed and is tried again",
          [
            "job": .string(job.name), "lane": LogValue(job.lane?.description ?? ""),
            "error": LogValue(error),
            "pauseSeconds": LogValue(pause.components.seconds),
          ])
      }
      try? await Task.sleep(for: pause)
    }
  }

  /// Doubles from the first pause up to the bound, at least what Apple asked for; half of it is
  /// chance.
  static func pause(after error: any Error, failures: Int, random: Double) -> Duration {
    let bound = min(firstPause * (1 << min(failures - 1, 10)), longestPause)
    let asked = (error as? APIError)?.retryAfter ?? .zero
    return max(bound * (0.5 + random / 2), min(asked, .seconds(3600)))
  }

  private func count(_ job: any AppleJob, _ result: String) {
    metrics.counter(
      "apple_job_steps_total", "Steps of the jobs that ask Apple, by how they ended.",
      labels: [
        "task": job.name, "result": result, "app": job.lane?.bundleId ?? "",
        "environment": job.lane?.environment ?? "",
      ]
    ).add()
  }
}
