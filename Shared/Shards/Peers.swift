import HTTPClient
import HTTPServer
import JSON
import Pipeline
import ServiceRuntime
import Synchronization

/// The other shards of the service, and how they are asked.
///
/// Each has workers of its own: one that stands still takes nobody's but its own. Requests that wait for
/// something have others than those that are answered at once.
final class Peers: Sendable {
  private struct Peer: Sendable {
    let address: String
    let identity: String
    let quick: HTTPClient
    let patient: HTTPClient
  }

  /// Requests to one shard that are answered at once, at a time.
  private static let quickWorkers = 16
  /// Requests to one shard that wait, and streams, at a time.
  private static let patientWorkers = 64
  /// One try of a request that does not wait.
  private static let tryTime = Duration.seconds(5)
  /// A stream ends by itself after half an hour.
  private static let longestStream = Duration.seconds(1_860)

  let misdirected: Counter
  private let peers: [Int: Peer]
  private let patience: Duration
  private let answered: Counter
  private let again: Counter
  private let away: Counter

  private let log: Log
  /// When it was said last that somebody else answers.
  private let strangers = Mutex(Repeats())

  init(
    _ settings: ShardSettings, _ source: String, patience: Duration, log: Log, metrics: Metrics
  ) {
    self.patience = patience
    self.log = log
    var peers: [Int: Peer] = [:]
    for (ordinal, address) in settings.peers.enumerated() where ordinal != settings.shard.ordinal {
      var limits = ClientSettings()
      limits.connectTimeout = .seconds(2)
      limits.waiting = 512
      limits.longestTimeout = Self.longestStream
      peers[ordinal] = Peer(
        address: address,
        identity: Shards.identity(source, ordinal, of: settings.shard.count),
        quick: HTTPClient(
          workers: Self.quickWorkers, settings: limits, name: "peer-\(ordinal)", log: log,
          metrics: metrics),
        patient: HTTPClient(
          workers: Self.patientWorkers, settings: limits, name: "pwait-\(ordinal)", log: log,
          metrics: metrics))
    }
    self.peers = peers
    func counter(_ result: String) -> Counter {
      metrics.counter(
        "forwarded_requests_total", "Requests that were passed on to another shard, by their end.",
        labels: ["result": result])
    }
    answered = counter("answered")
    away = counter("away")
    misdirected = counter("misdirected")
    again = metrics.counter(
      "forwarded_tries_total", "Tries of passing on that were made again after a failure.")
  }

  func close(by deadline: Deadline) async {
    await withTaskGroup(of: Void.self) { group in
      for peer in peers.values {
        group.addTask { await peer.quick.close(by: deadline) }
        group.addTask { await peer.patient.close(by: deadline) }
      }
    }
  }

  /// The answer of another shard.
  ///
  /// - Throws: `Problem` 503 `shard-away`, `overloaded`.
  func forward(_ request: Request, to ordinal: Int) async throws -> Response {
    guard let peer = peers[ordinal] else { throw Problem.wrongShard }
    let wait = request.preferredWait(atMost: .seconds(30)) ?? .zero
    let client = wait > .zero ? peer.patient : peer.quick
    let wire = wire(request, peer.address, timeout: wait + Self.tryTime)
    let answer = try await tries(request, ordinal) { await Self.send(wire, client) }
    try check(answer.header(Shards.answerer), peer)
    answered.add()
    return Response(
      status: answer.status, headers: Self.carried(answer.headers), body: answer.body)
  }

  /// An answer of another shard that is written as things happen.
  func stream(_ request: Request, to ordinal: Int) async throws -> Response {
    guard let peer = peers[ordinal] else { throw Problem.wrongShard }
    let wire = wire(request, peer.address, timeout: Self.longestStream)
    let open = try await tries(request, ordinal) { await Self.open(wire, peer.patient) }
    do {
      try check(open.head.header(Shards.answerer), peer)
    } catch {
      open.close()
      throw error
    }
    answered.add()
    let headers = Self.carried(open.head.headers)
    guard open.head.status == 200 else {
      let body = Gathered()
      await open.read { body.take($0) }
      return Response(status: open.head.status, headers: headers, body: body.bytes)
    }
    return Response.stream(
      contentType: open.head.header("Content-Type") ?? "text/event-stream", shares: []
    ) { writer in
      await open.read { writer.write($0) }
    }
  }

  /// Makes sure that the shard answered that was asked: another's "unknown" would be taken for the truth.
  ///
  /// - Throws: `Problem` 503 `wrong-shard`.
  private func check(_ answerer: String?, _ peer: Peer) throws {
    guard answerer != peer.identity else { return }
    misdirected.add()
    let found = answerer ?? "no shard of Purser"
    if strangers.withLock({ $0.isDue("\(peer.address) \(found)") }) {
      log.error(
        "PURSER_PEERS leads to somebody else",
        [
          "address": .string(peer.address), "wanted": .string(peer.identity),
          "found": .string(found),
        ])
    }
    throw Problem.wrongShard
  }

  /// Tries until there is an answer or no more patience.
  private func tries<Answer: Answered>(
    _ request: Request, _ ordinal: Int,
    _ attempt: @Sendable () async -> Result<Answer, HTTPClientError>
  ) async throws -> Answer {
    let deadline = Deadline.after(patience)
    var pause = Duration.milliseconds(50)
    var outcome = await attempt()
    while Self.verdict(outcome, request) == .away, !deadline.hasPassed, !Task.isCancelled {
      again.add()
      try await Task.sleep(for: min(pause, max(.milliseconds(1), deadline.remaining)))
      pause = min(pause * 2, .milliseconds(400))
      outcome = await attempt()
    }
    return try settled(outcome, request, ordinal)
  }

  /// What came of the last try.
  private func settled<Answer: Answered>(
    _ outcome: Result<Answer, HTTPClientError>, _ request: Request, _ ordinal: Int
  ) throws -> Answer {
    if case .success(let answer) = outcome { return answer }
    away.add()
    guard Self.verdict(outcome, request) == .busy else { throw Problem.shardAway(ordinal) }
    throw Problem.overloaded("Shard \(ordinal) is asked as much as it may be.")
  }

  private enum Verdict { case done, busy, away, unsure }

  /// What becomes of a try.
  private static func verdict<Answer: Answered>(
    _ outcome: Result<Answer, HTTPClientError>, _ request: Request
  ) -> Verdict {
    switch outcome {
    case .success(let answer):
      // A shard that stops says so; what it began it may have done.
      guard answer.isStopping else { return .done }
      return request.isRepeatable ? .away : .done
    case .failure(let error):
      if error.kind == .busy { return .busy }
      if error.mayHaveReached && !request.isRepeatable { return .unsure }
      return error.isRetryable || error.kind == .cut ? .away : .unsure
    }
  }

  private static func send(_ wire: HTTPRequest, _ client: HTTPClient) async
    -> Result<HTTPResponse, HTTPClientError>
  {
    do {
      return .success(try await client.send(wire))
    } catch {
      return .failure(error)
    }
  }

  private static func open(_ wire: HTTPRequest, _ client: HTTPClient) async
    -> Result<OpenAnswer, HTTPClientError>
  {
    do {
      return .success(try await client.open(wire))
    } catch {
      return .failure(error)
    }
  }
}

/// What a try brought, as far as it says whether another one makes sense.
protocol Answered: Sendable {
  /// Whether the shard was about to stop.
  var isStopping: Bool { get }
}

extension HTTPResponse: Answered {
  var isStopping: Bool {
    status == 503
      && (try? JSONFields(body).optionalText("type")) == Problem.stopping.typeURI
  }
}

extension OpenAnswer: Answered {
  var isStopping: Bool {
    guard head.status == 503 else { return false }
    close()
    return true
  }
}
