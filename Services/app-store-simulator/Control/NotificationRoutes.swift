import AppStore
import HTTPServer

/// What was sent to the notification URL, and meddling with it.
struct NotificationRoutes: Sendable {
  let simulator: Simulator
  let courier: Courier

  func add(to router: inout Router) {
    router.on(.get, "/control/notifications", scope: nil) { request in
      let filter = try NotificationFilter(request)
      let (all, isPaused) = simulator.mail { ($0.all, $0.isPaused) }
      return .json(NotificationList(paused: isPaused, notifications: filter.entries(of: all)))
    }
    router.on(.get, "/control/notifications/{uuid}", scope: nil) { request in
      .json(NotificationEntry(try delivery(request)))
    }
    router.on(.post, "/control/notifications/{uuid}/redeliver", scope: nil) { request in
      let delivery = try delivery(request)
      guard delivery.state != .unsent else {
        throw Problem(
          status: 409, type: "no-notification-url", title: "No notification URL",
          detail: "Start the simulator with SIMULATOR_NOTIFICATION_URL to have notifications sent.")
      }
      _ = await courier.attempt(delivery, isRedelivery: true)
      return .json(NotificationEntry(try self.delivery(request)))
    }
    router.on(.post, "/control/notifications/test", scope: nil) { _ in
      try await ControlProblems.translating {
        let outcome = try simulator.perform { _, now in Happening.test(at: now) }
        return .json(
          try CommandAnswer(outcome, signer: simulator.signer, at: simulator.clock.now()),
          status: 202)
      }
    }
    for (path, isPaused) in [("pause", true), ("resume", false)] {
      router.on(.post, "/control/notifications/\(path)", scope: nil) { _ in
        let (outage, open) = simulator.mail { mailbox in
          mailbox.setPaused(isPaused)
          return (mailbox.isOutage, mailbox.openCount)
        }
        return .json(NotificationGate(paused: isPaused, outage: outage, open: open))
      }
    }
    addOutage(to: &router)
  }

  private func addOutage(to router: inout Router) {
    for (path, isOutage) in [("outage", true), ("recover", false)] {
      router.on(.post, "/control/notifications/\(path)", scope: nil) { _ in
        let (paused, open) = simulator.mail { mailbox in
          mailbox.setOutage(isOutage)
          return (mailbox.isPaused, mailbox.openCount)
        }
        return .json(NotificationGate(paused: paused, outage: isOutage, open: open))
      }
    }
  }

  private func delivery(_ request: Request) throws(Problem) -> Delivery {
    let uuid = request.parameter("uuid").lowercased()
    guard let delivery = simulator.mail({ $0.delivery(uuid) }) else {
      throw Problem(
        status: 404, type: "unknown-notification", title: "Unknown notification",
        detail: "No notification '\(uuid)' is kept; SIMULATOR_NOTIFICATION_HISTORY says how many "
          + "finished ones are.")
    }
    return delivery
  }
}

private struct NotificationGate: Encodable {
  let paused: Bool
  /// Whether attempts fail without reaching the URL.
  let outage: Bool
  let open: Int
}

private struct NotificationList: Encodable {
  let paused: Bool
  let notifications: [NotificationEntry]
}
