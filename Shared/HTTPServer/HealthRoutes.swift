public import ServiceRuntime

/// What must be true before a service may take traffic.
public struct ReadinessCheck: Sendable {
  /// The name that `/readyz` shows, such as `broker`.
  public let name: String
  /// Whether it is true now.
  public let passes: @Sendable () -> Bool

  /// Makes a check.
  public init(_ name: String, _ passes: @escaping @Sendable () -> Bool) {
    self.name = name
    self.passes = passes
  }
}

extension Router {
  /// Adds `/healthz` (the process lives), `/readyz` (all checks pass) and `/metrics`.
  ///
  /// All are answered on the HTTP thread itself, so that they answer when the service is busy.
  public mutating func addHealth(metrics: Metrics, checks: [ReadinessCheck]) {
    direct(.get, "/healthz") { _ in .json(["status": "ok"]) }
    direct(.get, "/readyz") { _ in
      let results = checks.map { ($0.name, $0.passes()) }
      let isReady = results.allSatisfy(\.1)
      let readiness = Readiness(
        ready: isReady, waitingFor: results.filter { !$0.1 }.map(\.0))
      return .json(readiness, status: isReady ? 200 : 503)
    }
    direct(.get, "/metrics") { _ in
      Response.text(metrics.text()).with("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
    }
  }
}

private struct Readiness: Encodable {
  let ready: Bool
  let waitingFor: [String]
}
