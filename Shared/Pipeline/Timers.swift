public import Events
import Kafka
public import SQLite
public import ServiceRuntime
import Synchronization

/// Something that happens because time passed.
public protocol TimerJob: Sendable {
  /// The name that logs and metrics show.
  var name: String { get }
  /// The topics that must be read before it may speak (design law 11).
  var inputs: Set<Topic> { get }
  /// When it is due next, in UTC milliseconds; nil when nothing is due ever.
  func nextDue(_ reader: Reader) throws -> Int64?
  /// Does what fell due by a time, at most `limit` of it; returns how many that were.
  ///
  /// Runs as a writer job, and must look again at the state: it may have changed since.
  func fire(_ change: Change, dueBy: Int64, limit: Int) throws -> Int
}

/// Runs timer jobs when their time has come and the past is read.
public final class Timers: Service {
  /// The name that logs show; also the thread's.
  public let name = "timers"

  private let store: Store
  private let processor: Processor
  private let jobs: [any TimerJob]
  private let log: Log
  private let stopping = Atomic<Bool>(false)
  private let ended = Completion<Void>()
  private let metrics: [TimerMetrics]

  /// Makes the timers of a store.
  public init(
    store: Store, processor: Processor, jobs: [any TimerJob], log: Log, metrics: Metrics
  ) {
    self.store = store
    self.processor = processor
    self.jobs = jobs
    self.log = log
    self.metrics = jobs.map { TimerMetrics(metrics, job: $0.name) }
    TimerMetrics.showOverdue(self.metrics, metrics, store.clock)
  }

  /// Runs until stopped.
  public func run() async {
    let thread = DedicatedThread(name: name) { self.loop() }
    await thread.joined()
    ended.complete(with: ())
  }

  /// Stops after the job at hand.
  public func stop(by deadline: Deadline) async {
    stopping.store(true, ordering: .releasing)
    store.context.timers.wake.signal()
    await ended.value()
  }

  private var isStopping: Bool { stopping.load(ordering: .acquiring) }

  /// What a due job waits for: the ends that its topics had at a moment.
  private struct Past {
    let dueBy: Int64
    let ends: [TopicPartition: Int64]
  }

  private func loop() {
    var pasts: [Int: Past] = [:]
    let signal = store.context.timers
    while !isStopping {
      var pause = store.clock.longestSleep
      var due = Int64.max
      signal.look()
      for (index, job) in jobs.enumerated() where !isStopping {
        do {
          let next = try run(job, metrics[index], &pasts[index])
          pause = min(pause, next.pause)
          due = min(due, next.due ?? .max)
        } catch {
          log.error(
            "a timer failed and is tried again",
            ["job": .string(job.name), "error": LogValue(error)])
          pause = min(pause, .milliseconds(500))
        }
      }
      signal.looked(nextDue: due)
      if !isStopping && pause > .zero { signal.wake.wait(atMost: pause) }
    }
  }

  /// Runs a job if it is due; returns the time until it wants to be looked at again, and what it found
  /// to be due next.
  private func run(_ job: any TimerJob, _ metrics: TimerMetrics, _ past: inout Past?) throws
    -> (pause: Duration, due: Int64?)
  {
    let now = store.clock.now()
    let next = try store.readers.readAndWait { reader in try job.nextDue(reader) }
    metrics.isDue(at: next)
    guard let due = next else {
      past = nil
      return (store.clock.longestSleep, nil)
    }
    guard due <= now else {
      past = nil
      return (.milliseconds(due - now), due)
    }
    // The ends are asked for after `now` was taken: what was written before `now` lies before them.
    // They are kept until they are reached, since under load the log always has a newer end.
    if past.map({ $0.dueBy < due }) ?? true {
      past = processor.ends(of: job.inputs, timeout: .seconds(1)).map { Past(dueBy: now, ends: $0) }
    }
    guard let known = past,
      processor.progress.waitUntilRead(known.ends, by: .after(.milliseconds(200)))
    else {
      metrics.held.add()
      return (.milliseconds(100), due)
    }
    let count = try store.changeAndWait { change in
      try job.fire(change, dueBy: known.dueBy, limit: Self.limit)
    }
    past = nil
    metrics.fired(count, dueAt: due, at: store.clock.now())
    return (count > 0 ? .zero : .milliseconds(50), due)
  }

  /// How many due things one writer job does at most.
  private static let limit = 500
}
