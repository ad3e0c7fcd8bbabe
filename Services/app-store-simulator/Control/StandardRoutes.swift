import HTTPServer
import ServiceRuntime

/// Health, metrics, and what can be asked.
struct StandardRoutes: Sendable {
  private struct Health: Encodable {
    let status: String
    let reasons: [String]
  }

  private struct Index: Encodable {
    let routes: [String]
  }

  let metrics: Metrics

  func add(to router: inout Router) {
    let metrics = metrics
    // Everything was there before the port was bound, so there is nothing to wait for.
    for path in ["/healthz", "/readyz"] {
      router.direct(.get, path) { _ in .json(Health(status: "ok", reasons: [])) }
    }
    router.direct(.get, "/metrics") { _ in
      .text(metrics.text(), contentType: "text/plain; version=0.0.4; charset=utf-8")
    }
    // Added last, so that it knows all the others.
    let index = Index(routes: router.routes.map { "\($0.method) \($0.pattern)" })
    router.direct(.get, "/control") { _ in .json(index) }
  }
}
