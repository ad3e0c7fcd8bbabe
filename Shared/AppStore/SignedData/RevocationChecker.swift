public import Cryptography
public import HTTPClient
import Synchronization

/// What is known about the revocation of a chain.
public enum RevocationState: Sendable, Equatable {
  /// Neither leaf nor intermediate was revoked.
  case good
  /// One of them was, at a time in UNIX milliseconds.
  case revoked(at: Int64)
  /// Nobody could be asked, or the answer proves nothing: no word about the chain.
  case unavailable(String)
}

/// Asks by OCSP whether a verified chain was revoked, and remembers the answers.
///
/// Only for chains that verified, with signatures that stood: strangers cannot make it ask. One
/// question per chain is under way at a time; whoever comes meanwhile waits for its answer.
public final class RevocationChecker: Sendable {
  /// Sends a request and gives the answer, whatever its status.
  public typealias Transport =
    @Sendable (HTTPRequest) async throws(HTTPClientError) -> HTTPResponse

  /// How long an answer is kept (Apple's libraries: 15 minutes).
  static let kept = Duration.seconds(900)
  /// How long it is remembered that there was none, so that an outage does not slow everyone.
  static let keptUnavailable = Duration.seconds(20)
  /// Chains that are remembered (Apple's libraries: 32).
  static let limit = 32

  private struct Known {
    let state: RevocationState
    let until: Duration
  }

  private struct Memory {
    var known: [String: Known] = [:]
    var asking: [String: Task<RevocationState, Never>] = [:]
  }

  private let timing: APITiming
  private let timeout: Duration
  private let transport: Transport
  private let memory = Mutex(Memory())

  /// Makes a checker.
  ///
  /// - Parameter timeout: For one question; a chain has two.
  public init(
    timing: APITiming, timeout: Duration = .seconds(3), transport: @escaping Transport
  ) {
    self.timing = timing
    self.timeout = timeout
    self.transport = transport
  }

  /// Chains that are remembered now.
  public var count: Int { memory.withLock { $0.known.count } }

  /// What is remembered about a chain of leaf, intermediate and root; nil when it must be asked.
  public func known(_ chain: [Certificate]) -> RevocationState? {
    let now = timing.uptime()
    let key = Self.key(of: chain)
    return memory.withLock { memory in
      memory.known[key].flatMap { $0.until > now ? $0.state : nil }
    }
  }

  /// What is remembered about a chain, or what its issuers say now; within twice the time limit.
  public func check(_ chain: [Certificate]) async -> RevocationState {
    if let known = known(chain) { return known }
    let key = Self.key(of: chain)
    let task = memory.withLock { memory in
      if let task = memory.asking[key] { return task }
      let task = Task { await self.ask(chain, key) }
      memory.asking[key] = task
      return task
    }
    return await task.value
  }

  private static func key(of chain: [Certificate]) -> String {
    chain.prefix(2).map(\.sha256Fingerprint).joined()
  }

  private func ask(_ chain: [Certificate], _ key: String) async -> RevocationState {
    let state = await state(of: chain)
    var kept = Self.kept
    if case .unavailable = state { kept = Self.keptUnavailable }
    let now = timing.uptime()
    memory.withLock { memory in
      memory.asking[key] = nil
      memory.known[key] = Known(state: state, until: now + kept)
      guard memory.known.count > Self.limit,
        let oldest = memory.known.min(by: { $0.value.until < $1.value.until })
      else { return }
      memory.known[oldest.key] = nil
    }
    return state
  }

  private func state(of chain: [Certificate]) async -> RevocationState {
    guard chain.count == 3 else { return .unavailable("a chain without issuers") }
    // The intermediate first: when it is revoked, its word about the leaf is worth nothing.
    for (certificate, issuer) in [(chain[1], chain[2]), (chain[0], chain[1])] {
      let state = await state(of: certificate, issuer: issuer)
      if state != .good { return state }
    }
    return .good
  }

  private func state(of certificate: Certificate, issuer: Certificate) async -> RevocationState {
    do {
      guard let question = try RevocationQuestion(certificate, issuer: issuer) else {
        return .unavailable("\(certificate.subject) names no address to ask")
      }
      let response = try await transport(
        HTTPRequest(
          method: "POST", url: question.url,
          headers: [("Content-Type", "application/ocsp-request")], body: question.request,
          timeout: timeout))
      guard response.status == 200 else {
        return .unavailable("the responder answered HTTP \(response.status)")
      }
      switch try question.read(response.body, now: timing.wallClock()) {
      case .good: return .good
      case .revoked(let date): return .revoked(at: date)
      }
    } catch {
      return .unavailable("\(error)")
    }
  }
}
