import AppStore
import HTTPServer

/// A notification as the control API shows it.
struct NotificationEntry: Encodable, Sendable {
  let notificationUUID: String
  let notificationType: String
  let subtype: String?
  let date: Int64
  let state: Delivery.State
  let transactionId: String?
  let originalTransactionId: String?
  let productId: String?
  let status: Int32?
  let nextAttempt: Int64?
  let sendAttempts: [SendAttempt]
  /// As it was sent; absent before the first attempt.
  let signedPayload: String?

  /// - Parameter withPayload: Lists leave the signed text out.
  init(_ delivery: Delivery, withPayload: Bool = true) {
    let happening = delivery.happening
    notificationUUID = delivery.uuid
    notificationType = happening.type.rawValue
    subtype = happening.subtype?.rawValue
    date = happening.at
    state = delivery.state
    transactionId = happening.transaction?.transactionId
    originalTransactionId = happening.transaction?.originalTransactionId
    productId = happening.transaction?.productId
    status = happening.status?.rawValue
    nextAttempt = delivery.nextAttempt
    sendAttempts = delivery.attempts
    signedPayload = withPayload ? delivery.signedPayload : nil
  }
}

/// The query of `GET /control/notifications`.
struct NotificationFilter: Sendable {
  private let type: String?
  private let subtype: String?
  private let transactionId: String?
  private let originalTransactionId: String?
  private let state: String?
  private let limit: Int

  init(_ request: Request) throws(Problem) {
    type = request.query["type"]
    subtype = request.query["subtype"]
    transactionId = request.query["transactionId"]
    originalTransactionId = request.query["originalTransactionId"]
    state = request.query["state"]
    let text = request.query["limit"] ?? "100"
    guard let limit = Int(text), (1...1_000).contains(limit) else {
      throw Problem(
        status: 400, type: "invalid-limit", title: "Invalid limit",
        detail: "limit is '\(text)'; give 1 to 1000.")
    }
    self.limit = limit
  }

  /// The newest that fit, oldest of them first.
  func entries(of all: [Delivery]) -> [NotificationEntry] {
    let fitting = all.lazy.reversed().filter { fits($0) }.prefix(limit)
    return Array(fitting).reversed().map { NotificationEntry($0, withPayload: false) }
  }

  private func fits(_ delivery: Delivery) -> Bool {
    let transaction = delivery.happening.transaction
    let pairs: [(String?, String?)] = [
      (type, delivery.happening.type.rawValue),
      (subtype, delivery.happening.subtype?.rawValue),
      (transactionId, transaction?.transactionId),
      (originalTransactionId, transaction?.originalTransactionId),
      (state, delivery.state.rawValue),
    ]
    return pairs.allSatisfy { wanted, found in wanted == nil || wanted == found }
  }
}
