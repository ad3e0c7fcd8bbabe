import Events
import FoundationEssentials
import Glibc
import HTTPClient
import TestSupport
import Testing

@testable import purser

extension WholeWay {
  /// Each kind of proof on its way through all services.
  @Suite("Kinds of proofs", .serialized, .wayWithReceipts, .timeLimit(.minutes(4)))
  struct ProofKindTests {
    private var way: Way { get throws { try WholeWay.way } }

    private struct Told: Decodable {
      struct Part: Decodable { let outcome: String, productId: String? }
      let outcome: String, finish: Bool
      let transactionId: String?, parts: [Part]?, order: Order
    }

    private struct Receipt: Decodable { let receipt: String, purchases: Int }

    /// Posts a proof of any kind and waits for what comes of it.
    private func post(_ kind: String, _ text: String, _ order: Order) async throws -> HTTPResponse {
      try await way.send(
        "POST", "order-service", "/v1/orders/\(order.id)/proofs",
        body: [UInt8](try JSONEncoder().encode([kind: text])), headers: [("Prefer", "wait=30")])
    }

    private func told(_ answer: HTTPResponse) throws -> Told {
      let text = String(decoding: answer.body.prefix(1000), as: UTF8.self)
      try #require(answer.status == 200, "\(text)")
      return try JSONDecoder().decode(Told.self, from: Data(answer.body))
    }

    private func refused(_ answer: HTTPResponse) throws -> BadInput.Problem {
      try BadInput.expect(answer, 422, "proof-rejected")
    }

    private func receipt(of bought: Bought) async throws -> String {
      try await way.ask(
        "GET", "app-store-simulator",
        "/control/transactions/\(try #require(bought.transactionId))/receipt", as: Receipt.self
      ).receipt
    }

    /// What iOS 6 handed over for one transaction.
    private func legacyReceipt(_ id: String) -> String {
      let info = Data("{ \"transaction-id\" = \"\(id)\"; }".utf8).base64EncodedString()
      return Data("{ \"purchase-info\" = \"\(info)\"; \"pod\" = \"7\"; }".utf8)
        .base64EncodedString()
    }

    @Test func `a receipt proves all that it lists, and its own purchase completes the order`()
      async throws
    {
      let way = try way
      let order = try await way.order("classic", "themes.all")
      _ = try await way.buy("pro.monthly", account: "classic", notify: false)
      let themes = try await way.buy("themes.all", account: "classic", notify: false)
      let receipt = try await receipt(of: themes)
      let answer = try told(try await post("receipt", receipt, order))
      #expect(answer.finish && answer.order.state == .completed && !answer.order.mismatched)
      #expect(answer.order.transactionId == themes.transactionId)
      #expect(Set(answer.parts?.compactMap(\.productId) ?? []) == ["themes.all", "pro.monthly"])
      for name in ["themes", "pro"] {
        _ = try await eventually("\(name) is there") {
          try await way.owned("classic").active(name)
        }
      }
      // Broken into lines, as a client may send it, it is the same proof.
      let lines = stride(from: 0, to: receipt.count, by: 64).map {
        String(receipt.dropFirst($0).prefix(64))
      }.joined(separator: "\r\n")
      #expect(try told(try await post("receipt", lines, order)).outcome == answer.outcome)
      let fact = try await way.journal.first(AppStoreFact.self, "the fact is recorded") {
        $0.source == .receipt && $0.lineage?.hasSuffix("/\(themes.transactionId ?? "")") == true
      }
      #expect(fact.proof?.part?.count == 2)
    }

    @Test(arguments: ["transactionId", "transactionReceipt"])
    func `an id binds where the transaction bears the customer's token, and nobody else`(
      kind: String
    ) async throws {
      let way = try way
      func text(_ id: String?) throws -> String {
        let id = try #require(id)
        return kind == "transactionId" ? id : legacyReceipt(id)
      }
      let customer = "by-\(kind.lowercased())"
      let order = try await way.order(customer, "coins.100")
      let own = try await way.buy("coins.100", token: order.id, notify: false)
      let answer = try told(try await post(kind, try text(own.transactionId), order))
      #expect(answer.transactionId == own.transactionId && answer.order.state == .completed)
      _ = try await eventually("the coins are there") {
        try await way.balances(customer).amount("coins") == 100 ? true : nil
      }
      let other = try await way.order("thief", "coins.100")
      let foreign = try await way.buy("coins.100", notify: false)
      let stolen = try refused(try await post(kind, try text(foreign.transactionId), other))
      #expect(stolen.reason == "not-bound" && stolen.detail.contains("post the signed transaction"))
      let unknown = try refused(try await post(kind, try text("4242424242"), other))
      #expect(unknown.reason == "unknown-transaction", "\(unknown.detail)")
      #expect(try await way.balances("thief").balances.isEmpty)
    }

    @Test(arguments: ["xcode-app-receipt-with-transaction", "xcode-signed-transaction"])
    func `what Xcode signed is refused where it is not allowed`(file: String) async throws {
      let way = try way
      let order = try await way.order("developer", "coins.100")
      let text = try TestData.text("apple/xcode/\(file)").filter { !$0.isWhitespace }
      let kind = file.contains("receipt") ? "receipt" : "signedTransaction"
      let problem = try refused(try await post(kind, text, order))
      #expect(!(problem.reason ?? "").isEmpty && problem.detail.hasSuffix("do not call finish()."))
      #expect(try await way.order(order.id).state == .rejected)
    }

    @Test func `a restore brings all kinds at once, each with its own answer`() async throws {
      let way = try way
      struct Item: Decodable {
        let place: String, outcome: String?, finish: Bool, reason: String?
        let productId: String?
      }
      struct Restored: Decodable { let decided: Bool, items: [Item] }
      struct Body: Encodable {
        let customer = "restorer"
        let signedTransactions: [String]
        let transactionIds: [String]
        let receipt: String
      }
      let order = try await way.order("restorer", "coins.100")
      let season = try await way.buy("season.pass", notify: false)
      let themes = try await way.buy("themes.all", account: "restorer", notify: false)
      let coins = try await way.buy("coins.100", token: order.id, notify: false)
      let tampered = try #require(season.signedTransaction).dropLast(8) + "AAAAAAAA"
      let body = Body(
        signedTransactions: [
          try #require(season.signedTransaction), String(tampered), "no proof at all",
        ], transactionIds: [try #require(coins.transactionId)],
        receipt: try await receipt(of: themes))
      for _ in 1...2 {
        let restored = try await way.ask(
          "POST", "order-service", "/v1/restores", body, headers: [("Prefer", "wait=30")],
          as: Restored.self)
        #expect(restored.decided)
        #expect(
          restored.items.map(\.outcome)
            == ["accepted", "rejected", "rejected", "accepted", "accepted"], "\(restored.items)")
        #expect(restored.items.map(\.finish) == [true, false, false, true, true])
        #expect(restored.items[1].reason == "bad-signature")
        #expect(restored.items[2].reason == "malformed-proof")
      }
      for name in ["season", "themes"] {
        _ = try await eventually("\(name) is there") {
          try await way.owned("restorer").active(name)
        }
      }
      // The order's own purchase was restored, not posted: it completes the order all the same.
      _ = try await eventually("the order is completed") {
        let order = try await way.order(order.id)
        return order.state == .completed && !order.mismatched ? true : nil
      }
    }

    @Test func `verifyReceipt is asked in the second way, production first, and marked`()
      async throws
    {
      let way = try way
      struct Fault: Encodable {
        let kind = "error", endpoint = "verify-receipt", count = 1, errorCode = 21_007
      }
      struct Faults: Decodable {
        struct Fault: Decodable { let endpoint: String? }
        let faults: [Fault]
      }
      try await way.end("verify-service", by: SIGTERM)
      try await way.launch(
        "verify-service", with: ["PURSER_CONFIG": way.plan.file("asks-apple.json")])
      try await way.ready("verify-service")
      _ = try await way.ask(
        "POST", "app-store-simulator", "/control/faults", Fault(), status: [201], as: Faults.self)
      let order = try await way.order("asked-for", "themes.all")
      let themes = try await way.buy("themes.all", account: "asked-for", notify: false)
      _ = try await way.buy("pro.monthly", account: "asked-for", notify: false)
      let answer = try told(
        try await post("receipt", try await receipt(of: themes), order))
      #expect(answer.order.state == .completed && !answer.order.mismatched)
      #expect(answer.order.transactionId == themes.transactionId)
      let faults = try await way.ask(
        "GET", "app-store-simulator", "/control/faults", as: Faults.self)
      #expect(faults.faults.isEmpty, "production was asked first and sent us to the sandbox")
      let state = try await way.journal.first(LineageState.self, "the state is published") {
        $0.lineage.originalTransactionId == themes.transactionId && $0.cause.kind == "receipt"
      }
      #expect(state.transactions.map(\.evidence) == ["verify-receipt"])
      _ = try await eventually("the subscription is there, by what Apple answered") {
        try await way.owned("asked-for").active("pro")
      }
      try await way.end("verify-service", by: SIGTERM)
      try await way.launch("verify-service")
      try await way.ready("verify-service")
    }
  }
}
