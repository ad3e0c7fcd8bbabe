import Events
import HTTPServer
import JSON

/// `POST /v1/notifications` and `/v1/notifications/{bundleId}`: where Apple posts.
///
/// Open to everyone: only signatures are trusted. 200 says that the broker has the record, 5xx asks
/// Apple to come again, 4xx is for what can never be valid.
enum NotificationRoutes {
  /// The same for all, so it is written once.
  private static let recorded = Response.json(["status": "recorded"])

  static func add(to router: inout Router, _ edge: Edge) {
    router.on(.post, "/v1/notifications", scope: nil) { request in
      try await receive(request, nil, edge)
    }
    router.on(.post, "/v1/notifications/{bundleId}", scope: nil) { request in
      try await receive(request, request.parameter("bundleId"), edge)
    }
  }

  private static func receive(_ request: Request, _ bundleId: String?, _ edge: Edge) async throws
    -> Response
  {
    let signedPayload: String
    do {
      signedPayload = try request.fields { (body) throws(JSONFieldFault) in
        try body.text("signedPayload")
      }
    } catch {
      edge.count("malformed-body")
      throw error
    }
    switch await edge.receive(signedPayload, bundleId: bundleId, request.traceparent) {
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
