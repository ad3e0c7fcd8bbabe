import HTTPServer

/// Turns what the store refuses into problem documents.
enum ControlProblems {
  /// Runs a step of a handler; its own errors become problems.
  static func translating<Value>(_ work: () async throws -> Value) async throws -> Value {
    do {
      return try await work()
    } catch let refusal as Refusal {
      throw problem(refusal)
    } catch is MailboxFull {
      throw Problem(
        status: 503, type: "notifications-full", title: "Notifications full",
        detail: "As many notifications are on their way as SIMULATOR_NOTIFICATION_QUEUE allows. "
          + "Let the receiver catch up, POST /control/notifications/resume, or send "
          + "\"notify\": false.",
        retryAfter: .seconds(1))
    } catch is Stopping {
      throw Problem(
        status: 503, type: "stopping", title: "Stopping",
        detail: "The simulator is being stopped; the clock stands where it was moved to so far.")
    } catch is ClockMover.Busy {
      throw Problem(
        status: 409, type: "clock-is-moving", title: "The clock is moving",
        detail: "Another request moves the clock. Try again when it has answered.",
        retryAfter: .seconds(1))
    }
  }

  static func problem(_ refusal: Refusal) -> Problem {
    Problem(
      status: status(refusal.code), type: refusal.code.rawValue, title: title(refusal.code),
      detail: refusal.detail)
  }

  static func status(_ code: Refusal.Code) -> Int {
    switch code {
    case .unknownProduct, .invalidQuantity, .invalidToken, .unknownStorefront, .unknownOffer,
      .invalidRefund:
      422
    case .unknownTransaction, .unknownSubscription: 404
    case .alreadyOwned, .alreadySubscribed, .alreadyRefunded, .notRefunded, .subscriptionEnded,
      .autoRenewUnchanged, .autoRenewOff:
      409
    case .ledgerFull: 507
    }
  }

  /// The slug as words.
  private static func title(_ code: Refusal.Code) -> String {
    let words = code.rawValue.split(separator: "-").joined(separator: " ")
    return words.prefix(1).uppercased() + words.dropFirst()
  }
}
