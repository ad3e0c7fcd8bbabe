import Events
import HTTPServer
import JSON
import ServiceRuntime

/// `POST /v1/notifications` and `/v1/notifications/{bundleId}`: where Apple posts.
///
/// Open to everyone: only signatures are trusted. 200 says that the broker has the record, 5xx asks
/// Apple to come again, 4xx is for what can never be valid.
enum NotificationRoutes {
  /// The same for all, so it is written once.
  private static let recorded = Response.json(["status": "recorded"])

  static func add(to router: inout Router, _ edge: Edge) {
    for pattern in ["/v1/notifications", "/v1/notifications/{bundleId}"] {
      router.on(.post, pattern, scope: nil, atOnce: { request in try receive(request, edge) })
    }
  }

  /// Proves it on the thread of its connection; while the broker is asked, no task waits.
  private static func receive(_ request: Request, _ edge: Edge) throws -> Attempted {
    try TraceContext.$current.withValue(request.trace) {
      let signedPayload: String
      do {
        signedPayload = try request.fields { (body) throws(JSONFieldFault) in
          try body.text("signedPayload")
        }
      } catch {
        edge.count("malformed-body")
        throw error
      }
      let traceparent = request.traceparent
      switch edge.prove(signedPayload, bundleId: request.parameters["bundleId"]) {
      case .refused(let reception): return .answered(try response(reception))
      case .proven(let fact):
        return .waiting { answer in
          edge.record(fact, traceparent) { reception in
            answer(Result { try response(reception) })
          }
        }
      case .askIssuers(let verified, let fact):
        return .begun { _ in
          try response(await edge.askAndRecord(verified, fact, traceparent))
        }
      }
    }
  }

  private static func response(_ reception: Edge.Reception) throws -> Response {
    switch reception {
    case .recorded:
      return recorded
    case .forged(let reason, let detail):
      throw Problem(
        status: 400, type: "notification-rejected", title: "Not a genuine notification",
        detail: detail, members: ["reason": .string(reason)])
    case .notConfigured(let reason, let detail):
      throw Problem(
        status: 404, type: "app-not-configured", title: "App or environment not configured",
        detail:
          "The notification is genuine, but \(detail) Add the app and environment to "
          + "purser.json, or correct the URL in App Store Connect.",
        members: ["reason": .string(reason)])
    case .tryAgain(let why):
      throw Problem(
        status: 503, type: "try-again", title: "Cannot be recorded now", detail: why,
        retryAfter: .seconds(5))
    }
  }
}
