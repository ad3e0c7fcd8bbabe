import HTTPClient
import ServiceRuntime

/// Sends spans to a collector, by OTLP over HTTP, on the thread `traces`.
///
/// A collector that is away costs spans and nothing else: no request and no record ever waits for it.
final class TraceExporter: Service {
  /// The name that logs show; also the thread's.
  let name = "traces"
  /// How long spans wait for others.
  static let pause = Duration.seconds(1)
  /// How often a batch is sent before it is given up.
  static let tries = 3

  private let tracer: Tracer
  private let program: String
  private let url: String
  private let authorization: Secret?
  private let log: Log
  private let client: HTTPClient
  private let stopping = Completion<Void>()
  /// Complete when the thread has ended, or may wait no longer.
  private let sent = Completion<Void>()
  private let ended = Completion<Void>()

  init(
    _ tracer: Tracer, program: String, url: String, authorization: Secret?, log: Log,
    metrics: Metrics
  ) {
    self.tracer = tracer
    self.program = program
    self.url = url
    self.authorization = authorization
    self.log = log
    var settings = ClientSettings()
    settings.timeout = .seconds(5)
    client = HTTPClient(
      workers: 1, settings: settings, name: "traces-http", log: log, metrics: metrics)
  }

  func run() async throws {
    try await DedicatedThread.run(named: name) {
      self.loop()
      self.sent.complete(with: ())
    }
    ended.complete(with: ())
  }

  /// Sends what is there, once, and ends.
  func stop(by deadline: Deadline) async {
    stopping.complete(with: ())
    tracer.interrupt()
    let deadline = min(deadline, .after(.seconds(2)))
    await sent.value(atMost: deadline.remaining, otherwise: ())
    await client.close(by: deadline)
    await ended.value()
  }

  private func loop() {
    var fails = false
    while true {
      let isLast = stopping.current != nil
      if !isLast { tracer.wait(atMost: Self.pause) }
      while true {
        let spans = tracer.take()
        guard !spans.isEmpty else { break }
        let fault = send(spans)
        if let fault {
          tracer.dropped(spans.count)
          if !fails { log.warning("spans could not be delivered", ["error": .string(fault)]) }
        } else if fails {
          log.info("the collector takes spans again")
        }
        fails = fault != nil
        if fails { break }
      }
      if isLast { return }
    }
  }

  /// What kept a batch from being delivered; nil when it was.
  private func send(_ spans: [Span]) -> String? {
    var headers = [("Content-Type", "application/json")]
    if let authorization { headers.append(("Authorization", authorization.reveal)) }
    let request = HTTPRequest(
      method: "POST", url: url, headers: headers,
      body: OTLPText.request(spans, program: program))
    var fault = "no answer"
    for attempt in 0..<Self.tries {
      if attempt > 0, stopping.wait(by: .after(.seconds(1 << attempt))) != nil { return fault }
      do {
        let response = try client.sendAndWait(request)
        if response.isSuccess { return nil }
        fault = "the collector answered \(response.status)"
        // The statuses that the OTLP specification calls retryable.
        guard [429, 502, 503, 504].contains(response.status) else { return fault }
      } catch {
        fault = error.description
      }
    }
    return fault
  }
}
