import HTTPClient
import ServiceRuntime
import Synchronization

/// Where the keys of the issuer come from.
protocol TokenKeys: Sendable {
  /// The keys, and a number that changes with them.
  var current: (set: WebKeySet, generation: Int) { get }
  /// Asks for newer keys; false when the keys are as new as they get for now, true when newer ones may
  /// come.
  func refresh() -> Bool
  /// Waits until a fetch that is asked for or under way has ended, for a bounded time, and not at all when
  /// too many wait already; whether the keys are the issuer's newest then.
  func arrive() async -> Bool
}

/// Keys from a file, which is read again when it changes.
final class TokenKeyFile: TokenKeys {
  private let file: Reloadable<WebKeySet>

  init(_ file: Reloadable<WebKeySet>) { self.file = file }

  var current: (set: WebKeySet, generation: Int) {
    let (set, generation) = file.snapshot
    return (set, generation)
  }

  func refresh() -> Bool { false }

  func arrive() async -> Bool { true }
}

/// Keys from an address, fetched on the thread `jwks` and kept for as long as the issuer says.
///
/// An unknown key's id makes it ask at once, but no more often than every ten seconds, so that
/// strangers cannot make it ask without end. While the issuer does not answer, the last keys hold for
/// a day.
final class TokenKeyFetcher: TokenKeys, Service {
  /// The times by which keys are fetched.
  struct Timing: Sendable {
    /// Between two fetches for an unknown id.
    var betweenRefreshes: Duration = .seconds(10)
    /// Between fetches when the issuer says nothing; what it says is bounded by the two below.
    var usual: Duration = .seconds(600)
    var shortest: Duration = .seconds(60)
    var longest: Duration = .seconds(86_400)
    /// Before the first retry; doubled up to `usual`.
    var retry: Duration = .seconds(1)
    /// How long a request waits for a fetch.
    var patience: Duration = .seconds(3)
    /// How long keys hold while none can be fetched.
    var lifetime: Duration = .seconds(86_400)
  }

  private struct State {
    var set = WebKeySet.empty
    var generation = 0
    var fetchedAt: ContinuousClock.Instant?
    var askedAt: ContinuousClock.Instant?
    var isAskedFor = true
    /// Whether the last question was answered: if not, an unknown key may well be a good one.
    var isSettled = false
    /// Whether a question is under way.
    var isAsking = false
  }

  /// So many requests wait for a fetch at most; those beyond are told to come again.
  private static let waiting = 64

  let name = "jwks"
  private let url: String
  private let client: HTTPClient
  private let timing: Timing
  private let log: Log
  private let metrics: Metrics
  private let state = Mutex(State())
  let arrivals = Waiters<String>(limit: waiting, limitPerKey: waiting)
  private let wake = Wake()
  private let isStopping = Atomic<Bool>(false)
  private let ended = Completion<Void>()

  /// The address is https, or http of this machine.
  init(url: String, timing: Timing = Timing(), log: Log, metrics: Metrics) {
    self.url = url
    self.timing = timing
    self.log = log
    self.metrics = metrics
    let arrivals = arrivals
    metrics.reading("access_token_key_waits", "Requests that wait for the token issuer's keys.") {
      arrivals.count
    }
    var settings = ClientSettings()
    settings.timeout = .seconds(10)
    settings.bodyBytes = 256 * 1024
    settings.waiting = 1
    client = HTTPClient(
      workers: 1, settings: settings, name: "jwks-get", log: log, metrics: metrics)
  }

  var current: (set: WebKeySet, generation: Int) {
    state.withLock { ($0.set, $0.generation) }
  }

  func refresh() -> Bool {
    let isAsked = state.withLock { state -> Bool? in
      if let asked = state.askedAt, ContinuousClock.now - asked < timing.betweenRefreshes,
        !state.isAskedFor
      {
        return state.isSettled ? false : nil
      }
      state.isAskedFor = true
      return true
    }
    if isAsked == true { wake.signal() }
    return isAsked ?? true
  }

  func arrive() async -> Bool {
    let deadline = Deadline.after(timing.patience)
    while true {
      // The place in the line comes before the look at the state, so that no end is missed between.
      let ticket = arrivals.enter("keys")
      defer { arrivals.leave(ticket) }
      let (isToCome, isSettled) = state.withLock {
        ($0.isAskedFor || $0.isAsking, $0.isSettled)
      }
      guard isToCome else { return isSettled }
      // What ended may have begun before the issuer had the key: then the fetch that was asked for is to come.
      guard await arrivals.wait(ticket, atMost: deadline.remaining) == .notified else {
        return false
      }
    }
  }

  func run() async {
    let thread = DedicatedThread(name: "jwks") { [self] in
      var next = ContinuousClock.now
      var pause = timing.retry
      while !isStopping.load(ordering: .acquiring) {
        let isDue = ContinuousClock.now >= next || state.withLock { $0.isAskedFor }
        if isDue {
          if let lifetime = fetch() {
            next = ContinuousClock.now + lifetime
            pause = timing.retry
          } else {
            next = ContinuousClock.now + pause
            pause = min(pause * 2, timing.usual)
          }
        }
        wake.wait(atMost: max(.milliseconds(1), next - ContinuousClock.now))
      }
    }
    await thread.joined()
    await client.close(by: .after(.milliseconds(100)))
    ended.complete(with: ())
  }

  func stop(by deadline: Deadline) async {
    isStopping.store(true, ordering: .releasing)
    wake.signal()
    arrivals.stopAll()
    // A request under way ends the thread late; giving it up is what closing the client does.
    await client.close(by: .after(min(.milliseconds(200), deadline.remaining)))
    await ended.value()
  }

  /// Fetches the keys; gives how long they hold, or nil when they could not be had.
  private func fetch() -> Duration? {
    state.withLock { state in
      state.askedAt = ContinuousClock.now
      state.isAskedFor = false
      state.isSettled = false
      state.isAsking = true
    }
    defer {
      state.withLock { $0.isAsking = false }
      arrivals.notify("keys")
    }
    do {
      let answer = try client.sendAndWait(
        HTTPRequest(url: url, headers: [("Accept", "application/jwk-set+json, application/json")]))
      guard answer.status == 200 else {
        throw WebKeySetError(problem: "was answered with the status \(answer.status)")
      }
      let set = try WebKeySet(json: answer.body)
      state.withLock { state in
        state.set = set
        state.generation += 1
        state.fetchedAt = ContinuousClock.now
        state.isSettled = true
      }
      count("ok")
      return Self.lifetime(answer.header("Cache-Control"), timing)
    } catch {
      count("failed")
      log.warning("the keys of tokens cannot be fetched", ["error": .string("\(error)")])
      dropOld()
      return nil
    }
  }

  private func dropOld() {
    state.withLock { state in
      guard let fetched = state.fetchedAt, ContinuousClock.now - fetched > timing.lifetime else {
        return
      }
      state.set = .empty
      state.generation += 1
      state.fetchedAt = nil
    }
  }

  private func count(_ result: String) {
    metrics.counter(
      "access_token_key_fetches_total", "Fetches of the token issuer's keys.",
      labels: ["result": result]
    ).add()
  }

  /// `max-age` of `Cache-Control`, within the bounds.
  static func lifetime(_ field: String?, _ timing: Timing) -> Duration {
    for directive in (field ?? "").split(separator: ",") {
      let parts = directive.filter { !$0.isWhitespace }.lowercased().split(separator: "=")
      if parts.count == 2, parts[0] == "max-age", let seconds = Int64(parts[1]), seconds >= 0 {
        return min(max(.seconds(seconds), timing.shortest), timing.longest)
      }
    }
    return timing.usual
  }
}
