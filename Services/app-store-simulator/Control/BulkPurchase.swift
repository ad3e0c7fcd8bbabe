import AppStore
import FoundationEssentials
import HTTPServer

/// `POST /control/purchases/bulk`: many purchases of one product, signed on several tasks.
///
/// A line of JSON for each, in their order; one that was refused says why and stops nothing.
struct BulkPurchase: Sendable {
  struct Body: Decodable, Sendable {
    var productId: String
    var count: Int?
    var quantity: Int?
    var tokens: [String]?
    var notify: Bool?
  }

  /// Purchases of one request; an answer of about 10 MB.
  static let largest = 2_000
  private static let tasks = 4

  private let body: Body
  private let count: Int

  init(_ body: Body) throws(Problem) {
    self.body = body
    count = body.count ?? body.tokens?.count ?? 1
    guard (1...Self.largest).contains(count) else {
      throw Problem(
        status: 422, type: "invalid-count", title: "Invalid count",
        detail: "The count is \(count); give 1 to \(Self.largest), and several requests for more.")
    }
  }

  func run(_ simulator: Simulator) async throws -> String {
    let share = (count + Self.tasks - 1) / Self.tasks
    return try await withThrowingTaskGroup(of: (Int, String).self) { group in
      for start in stride(from: 0, to: count, by: share) {
        group.addTask {
          var lines = ""
          for index in start..<min(count, start + share) {
            lines += try line(index, simulator)
          }
          return (start, lines)
        }
      }
      var parts: [(Int, String)] = []
      for try await part in group { parts.append(part) }
      return parts.sorted { $0.0 < $1.0 }.map(\.1).joined()
    }
  }

  private func line(_ index: Int, _ simulator: Simulator) throws -> String {
    var order = PurchaseOrder(productId: body.productId, quantity: body.quantity ?? 1)
    if let tokens = body.tokens, !tokens.isEmpty { order.token = tokens[index % tokens.count] }
    do {
      let outcome = try simulator.perform(notifies: body.notify ?? true) {
        ledger, now in try ledger.buy(order, at: now)
      }
      let transaction = outcome.happening.transaction ?? TransactionPayload()
      let signed = try simulator.signer.sign(
        transaction, at: max(simulator.clock.now(), outcome.happening.at))
      // Digits, UUIDs and base64url: nothing that JSON would escape.
      let token = transaction.appAccountToken.map { "\"appAccountToken\":\"\($0)\"," } ?? ""
      return "{\(token)\"originalTransactionId\":\"\(transaction.originalTransactionId ?? "")\","
        + "\"signedTransaction\":\"\(signed)\","
        + "\"transactionId\":\"\(transaction.transactionId ?? "")\"}\n"
    } catch let refusal as Refusal {
      let document = ControlProblems.problem(refusal).body
      return "{\"refused\":\(String(decoding: document, as: UTF8.self))}\n"
    }
  }
}
