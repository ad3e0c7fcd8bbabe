import Events
import FoundationEssentials
import HTTPClient
import Testing

@testable import purser

/// An answer that a test did not expect.
struct UnexpectedAnswer: Error, CustomStringConvertible {
  let title: String
  let status: Int
  let text: String
  var description: String { "\(title) was answered with \(status): \(text)" }
}

/// What the app, its backend and Apple's customers do.
extension Way {
  /// Sends a request to a service or the simulator, with the stack's key unless told otherwise.
  func send(
    _ method: String, _ party: String, _ path: String, body: [UInt8]? = nil,
    headers: [(String, String)] = [], key: String? = nil, timeout: Duration = .seconds(40)
  ) async throws -> HTTPResponse {
    let key = key ?? plan.apiKey
    var all = headers + [("Content-Type", "application/json")]
    if party != "app-store-simulator" && !key.isEmpty {
      all.append(("Authorization", "Bearer \(key)"))
    }
    // Whoever stands before several shards asks another one where nobody listens.
    let places = addresses(of: party)
    for place in places.dropLast() {
      let outcome = await answer(
        HTTPRequest(
          method: method, url: place + path, headers: all, body: body, timeout: timeout))
      if case .failure(let error) = outcome, error.kind == .cannotConnect { continue }
      return try outcome.get()
    }
    return try await http.send(
      HTTPRequest(
        method: method, url: (places.last ?? "") + path, headers: all, body: body,
        timeout: timeout))
  }

  private func answer(_ request: HTTPRequest) async -> Result<HTTPResponse, HTTPClientError> {
    do {
      return .success(try await http.send(request))
    } catch {
      return .failure(error)
    }
  }

  /// Sends a request and reads the answer, which must have one of the given statuses.
  func ask<Answer: Decodable>(
    _ method: String, _ party: String, _ path: String, _ body: (any Encodable)? = nil,
    headers: [(String, String)] = [], status expected: Set<Int> = [200], as type: Answer.Type
  ) async throws -> Answer {
    let answer = try await send(
      method, party, path, body: try body.map { [UInt8](try JSONEncoder().encode($0)) },
      headers: headers)
    guard expected.contains(answer.status) else {
      throw UnexpectedAnswer(
        title: "\(method) \(party) \(path)", status: answer.status,
        text: String(decoding: answer.body.prefix(1000), as: UTF8.self))
    }
    return try JSONDecoder().decode(type, from: Data(answer.body))
  }

  func order(
    _ customer: String, _ product: String, quantity: Int? = nil, idempotencyKey: String? = nil
  ) async throws -> Order {
    try await ask(
      "POST", "order-service", "/v1/orders",
      Questions.Order(customer: customer, productId: product, quantity: quantity),
      headers: idempotencyKey.map { [("Idempotency-Key", $0)] } ?? [], status: [201],
      as: Order.self)
  }

  func order(_ id: String) async throws -> Order {
    try await ask("GET", "order-service", "/v1/orders/\(id)", as: Order.self)
  }

  func prove(_ order: String, _ signed: String, wait: Int = 30) async throws -> Proved {
    try await ask(
      "POST", "order-service", "/v1/orders/\(order)/proofs",
      Questions.Proof(signedTransaction: signed), headers: [("Prefer", "wait=\(wait)")],
      status: [200, 202], as: Proved.self)
  }

  /// A purchase by an Apple account; without a token the account is a new one.
  func buy(
    _ product: String, token: String? = nil, quantity: Int? = nil, account: String? = nil,
    notify: Bool = true
  ) async throws -> Bought {
    struct Body: Encodable {
      let productId: String
      let appAccountToken: String?
      let quantity: Int?
      let account: String?
      let notify: Bool
    }
    return try await ask(
      "POST", "app-store-simulator", "/control/purchases",
      Body(
        productId: product, appAccountToken: token, quantity: quantity, account: account,
        notify: notify),
      status: [201], as: Bought.self)
  }

  /// A command of the simulator, such as `subscriptions/1/renew`.
  @discardableResult
  func apple(_ command: String, notify: Bool = true) async throws -> Bought {
    try await ask(
      "POST", "app-store-simulator", "/control/\(command)", ["notify": notify], as: Bought.self)
  }

  func holdNotifications(_ isHeld: Bool) async throws {
    struct Gate: Decodable { let paused: Bool }
    _ = try await ask(
      "POST", "app-store-simulator", "/control/notifications/\(isHeld ? "pause" : "resume")",
      as: Gate.self)
  }

  /// Delivers a notification once more, as Apple may; the HTTP status that it was answered with.
  @discardableResult
  func redeliver(_ uuid: String) async throws -> Int? {
    try await ask(
      "POST", "app-store-simulator", "/control/notifications/\(uuid)/redeliver",
      as: SentNotification.self
    ).sendAttempts.last?.status
  }

  func notifications(_ query: String = "limit=1000") async throws -> [SentNotification] {
    try await sent(query).notifications
  }

  /// Whether notifications are on their way; those that are held, or that nobody took, are not.
  func isApplePosting() async throws -> Bool {
    let (open, isPaused) = try await open(["waiting", "sending"])
    return open > 0 && !isPaused
  }

  /// In how many of the states there are notifications, and whether all are held.
  func open(_ states: [String]) async throws -> (states: Int, isPaused: Bool) {
    var open = (states: 0, isPaused: false)
    for state in states {
      let sent = try await sent("state=\(state)&limit=1")
      open.states += sent.notifications.count
      open.isPaused = sent.paused
    }
    return open
  }

  private struct Sent: Decodable {
    let paused: Bool
    let notifications: [SentNotification]
  }

  private func sent(_ query: String) async throws -> Sent {
    try await ask(
      "GET", "app-store-simulator", "/control/notifications?\(query)", as: Sent.self)
  }

  func now() async throws -> Int64 {
    try await ask("GET", "app-store-simulator", "/control/clock", as: Answers.Clock.self).now
  }

  /// Moves the clock of everybody to a time; what falls due on the way happens.
  func advance(to time: Int64) async throws {
    struct Move: Encodable { let set: Int64 }
    _ = try await ask(
      "POST", "app-store-simulator", "/control/clock", Move(set: max(time, try await now())),
      as: Answers.Clock.self)
  }

  /// Moves the clock at one go, without waiting where something falls due.
  func skip(to time: Int64) async throws {
    struct Move: Encodable {
      let set: Int64
      let pauseMilliseconds = 0
    }
    let body = [UInt8](try JSONEncoder().encode(Move(set: time)))
    let answer = try await send(
      "POST", "app-store-simulator", "/control/clock", body: body, timeout: .seconds(300))
    guard answer.isSuccess else {
      throw UnexpectedAnswer(
        title: "moving the clock", status: answer.status,
        text: String(decoding: answer.body, as: UTF8.self))
    }
  }

  func owned(_ customer: String) async throws -> Owned {
    try await ask(
      "GET", "entitlement-service", "/v1/customers/\(escaped(customer))/entitlements",
      as: Owned.self)
  }

  func balances(_ customer: String) async throws -> Held {
    try await ask(
      "GET", "entitlement-service", "/v1/customers/\(escaped(customer))/balances", as: Held.self)
  }

  private func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain = byte == 0x2D || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
      return isPlain
        ? String(UnicodeScalar(byte)) : "%" + String(0x100 + Int(byte), radix: 16).dropFirst()
    }.joined()
  }
}

/// What a purchase or another command of the simulator brought.
struct Bought: Decodable, Sendable {
  let transactionId: String?
  let originalTransactionId: String?
  let signedTransaction: String?
  let notificationUUID: String?
  let expiresDate: Int64?
}

/// What the app is told about its proof.
struct Proved: Decodable, Sendable {
  let proofId: String
  let outcome: String?
  let finish: Bool
  let transactionId: String?
  let order: Order
}

struct SentNotification: Decodable, Sendable {
  struct Attempt: Decodable, Sendable { let status: Int? }
  let notificationUUID: String
  let state: String
  let sendAttempts: [Attempt]
  let signedPayload: String?
}

struct Owned: Decodable, Sendable {
  let customer: String
  let version: Int64
  let entitlements: [Entitlement]

  var active: [Entitlement] { entitlements.filter(\.isActive) }
  func active(_ name: String) -> Entitlement? { active.first { $0.name == name } }
}

struct Held: Decodable, Sendable {
  let version: Int64
  let balances: [Balance]

  func amount(_ unit: String) -> Int64 { balances.first { $0.unit == unit }?.amount ?? 0 }
}
