import AppStore
import HTTPServer

/// `GET /control/transactions/{id}/receipt`: what a StoreKit 1 app would hand over.
struct ReceiptRoutes: Sendable {
  private struct Answer: Encodable {
    /// The app receipt of the transaction's account, PKCS#7 in base64.
    let receipt: String
    /// How many purchases it lists.
    let purchases: Int
  }

  let receipts: Receipts
  let simulator: Simulator

  func add(to router: inout Router) {
    router.on(.get, "/control/transactions/{id}/receipt", scope: nil) { request in
      let id = request.parameter("id")
      return try await ControlProblems.translating {
        let account = try simulator.read { ledger in try ledger.charge(id).account }
        let (text, count) = try receipts.receipt(of: account)
        return .json(Answer(receipt: text, purchases: count))
      }
    }
  }
}
