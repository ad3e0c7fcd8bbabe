import AppStore
import Catalog
import Cryptography
import FoundationEssentials
import HTTPServer

/// `POST /control/forge`: signed text that must be refused, or of a form not yet known.
struct ForgeRoutes: Sendable {
  private struct Body: Decodable {
    var kind: String
    /// `transaction` (default) or `notification`.
    var object: String?
    /// A transaction to take the content from; otherwise one is invented.
    var transactionId: String?
    var productId: String?
    var appAccountToken: String?
  }

  private struct Answer: Encodable {
    let kind: String
    let object: String
    /// `refused`, or `kept` for what is genuine but unknown.
    let expected: String
    var signedTransaction: String?
    var signedPayload: String?
  }

  let simulator: Simulator

  func add(to router: inout Router) {
    router.on(.post, "/control/forge", scope: nil) { request in
      let body: Body = try request.json()
      let kind = try word(body.kind, Forgery.Kind.self, "kind")
      var object = try word(body.object ?? "transaction", Forgery.Object.self, "object")
      if kind == .unknownType { object = .notification }
      let happening = try await ControlProblems.translating { try content(of: body) }
      let forgery = Forgery(simulator.signer, at: max(simulator.clock.now(), happening.at))
      let text = try forgery.make(kind, object, of: happening)
      return .json(
        Answer(
          kind: kind.rawValue, object: object.rawValue,
          expected: kind == .unknownType ? "kept" : "refused",
          signedTransaction: object == .transaction ? text : nil,
          signedPayload: object == .notification ? text : nil))
    }
  }

  private func word<Word: RawRepresentable & CaseIterable>(
    _ text: String, _ type: Word.Type, _ name: String
  ) throws(Problem) -> Word where Word.RawValue == String {
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw Problem(
        status: 422, type: "unknown-forgery", title: "Unknown forgery",
        detail: "\(name) is '\(text)'; give one of \(words).")
    }
    return word
  }

  /// A purchase that is in no books, or one that is.
  private func content(of body: Body) throws -> Happening {
    let now = simulator.clock.now()
    return try simulator.read { ledger in
      if let id = body.transactionId {
        let charge = try ledger.charge(id)
        return ledger.happening(
          ledger.lineages[charge.originalId] == nil ? .oneTimeCharge : .subscribed, of: charge,
          at: now)
      }
      // Real numbers have sixteen digits, so an invented one is never met again.
      var invented = Ledger(
        catalog: ledger.catalog, seller: ledger.seller,
        firstId: 9_000_000_000_000_000 + UInt64.random(in: 0..<900_000_000_000_000))
      let product = body.productId ?? ledger.catalog.orderedProducts.first?.id ?? ""
      return try invented.buy(
        PurchaseOrder(productId: product, token: body.appAccountToken), at: now)
    }
  }
}
