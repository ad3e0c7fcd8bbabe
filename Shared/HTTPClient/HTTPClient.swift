import Dispatch
public import ServiceRuntime
import Synchronization

/// Sends requests with libcurl, on threads of its own, each with one easy handle that keeps its
/// connections open.
///
/// Redirects are not followed. When a kept connection turns out to be dead before a byte of the answer
/// came, curl sends the request once more: what must not happen twice needs an idempotency key.
public final class HTTPClient: Sendable {
  private struct Queue {
    var waiting: [Job] = []
    var running: [ObjectIdentifier: Job] = [:]
    var isClosed = false
  }

  private let settings: ClientSettings
  private let log: Log
  private let metrics: ClientMetrics
  private let queue = Mutex(Queue())
  private let arrived = DispatchSemaphore(value: 0)
  private let threads = Mutex<[DedicatedThread]>([])

  /// Starts the workers.
  ///
  /// - Parameters:
  ///   - workers: Requests at a time, each on its thread `<name>-0`, `<name>-1`…
  ///   - name: At most 13 bytes, as thread names are short.
  public init(
    workers: Int, settings: ClientSettings = ClientSettings(), name: String = "http-client",
    log: Log, metrics: Metrics
  ) {
    self.settings = settings
    self.log = log
    self.metrics = ClientMetrics(metrics, client: name)
    for number in 0..<max(1, workers) {
      let thread = DedicatedThread(name: "\(name)-\(number)") { [self] in work() }
      threads.withLock { $0.append(thread) }
    }
  }

  /// Sends a request and awaits the answer; cancelling the task gives the request up.
  ///
  /// - Throws: `HTTPClientError`; answers of any status are returned.
  public func send(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
    let job = try enqueue(request)
    let outcome = await withTaskCancellationHandler {
      await job.done.value()
    } onCancel: {
      cancel(job)
    }
    return try outcome.get()
  }

  /// Sends a request whose answer's body is read as it comes; returns with its head.
  ///
  /// It occupies a worker until its end. Whoever opens an answer must read it.
  ///
  /// - Throws: `HTTPClientError` when there is no head.
  public func open(_ request: HTTPRequest) async throws(HTTPClientError) -> OpenAnswer {
    let body = ComingBody()
    let job = try enqueue(request, body: body)
    let answer = OpenAnswer(job: job, body: body) { [self] in cancel(job) }
    let head = await withTaskCancellationHandler {
      await body.head.value()
    } onCancel: {
      cancel(job)
    }
    answer.take(try head.get())
    return answer
  }

  /// Sends a request and blocks until the answer is there.
  ///
  /// Only for threads of ours.
  ///
  /// - Throws: `HTTPClientError`; answers of any status are returned.
  public func sendAndWait(_ request: HTTPRequest) throws(HTTPClientError) -> HTTPResponse {
    try enqueue(request).done.wait().get()
  }

  /// Lets running and waiting requests end until the deadline, gives up the rest, ends the threads.
  ///
  /// Giving up may take a second more, which is how often curl asks.
  public func close(by deadline: Deadline) async {
    queue.withLock { $0.isClosed = true }
    let threads = threads.withLock { $0 }
    for _ in threads { arrived.signal() }
    let last = DedicatedThread(name: "http-close") { [self] in
      let isEnded = threads.allSatisfy { $0.join(by: deadline) }
      if !isEnded { giveUp() }
      for thread in threads { thread.join() }
    }
    await last.joined()
  }

  private func enqueue(_ request: HTTPRequest, body: ComingBody? = nil) throws(HTTPClientError)
    -> Job
  {
    let job = Job(request, body: body)
    if let fault = job.fault { throw fault }
    let refused = queue.withLock { queue -> HTTPClientError? in
      if queue.isClosed { return job.error(.closed, "the client was closed") }
      guard queue.waiting.count < settings.waiting else {
        return job.error(.busy, "\(queue.waiting.count) requests wait already")
      }
      queue.waiting.append(job)
      return nil
    }
    if let refused {
      metrics.failed(refused.kind)
      throw refused
    }
    arrived.signal()
    return job
  }

  private func cancel(_ job: Job) {
    job.cancel()
    let wasWaiting = queue.withLock { queue in
      let index = queue.waiting.firstIndex { $0 === job }
      if let index { queue.waiting.remove(at: index) }
      return index != nil
    }
    if wasWaiting { job.end(with: .failure(job.error(.cancelled, "cancelled"))) }
  }

  private func giveUp() {
    let waiting = queue.withLock { queue in
      defer { queue.waiting = [] }
      for job in queue.running.values { job.close() }
      return queue.waiting
    }
    for job in waiting {
      job.end(with: .failure(job.error(.closed, "the client was closed")))
    }
  }

  /// The whole life of a worker.
  private func work() {
    let easy = EasyHandle()
    while let job = next() {
      let began = ContinuousClock.now
      let outcome =
        easy?.perform(job, settings) ?? .failure(job.error(.other, "libcurl gave no handle"))
      queue.withLock { $0.running[ObjectIdentifier(job)] = nil }
      record(outcome, ContinuousClock.now - began)
      job.end(with: outcome)
    }
  }

  /// Waits for a job; nil when the client is closed and nothing waits.
  private func next() -> Job? {
    while true {
      arrived.wait()
      let (job, isClosed) = queue.withLock { queue in
        guard !queue.waiting.isEmpty else { return (Job?.none, queue.isClosed) }
        let job = queue.waiting.removeFirst()
        queue.running[ObjectIdentifier(job)] = job
        return (job, queue.isClosed)
      }
      // The signal of closing may have been taken for this job: pass it on.
      if job != nil && isClosed { arrived.signal() }
      if job != nil || isClosed { return job }
    }
  }

  private func record(_ outcome: Job.Outcome, _ time: Duration) {
    switch outcome {
    case .success(let response): metrics.answered(response.status, in: time)
    case .failure(let error):
      metrics.failed(error.kind)
      log.debug("a request failed", ["error": LogValue(error)])
    }
  }
}
