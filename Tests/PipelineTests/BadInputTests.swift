import Events
import FoundationEssentials
import HTTPClient
import Testing

extension WholeWay {
  /// What no service takes: refused with words and a stable type, counted, and stored nowhere.
  @Suite("Bad input", .serialized, .wayWithKeys, .timeLimit(.minutes(4)))
  struct BadInputTests {
    private var way: Way { get throws { try WholeWay.way } }

    /// Sends it, and sees that it is refused, counted once, and that nothing was added anywhere.
    private func refuse(_ request: BadRequest) async throws {
      let way = try way
      var path = request.path
      if path.contains("{order}") {
        path = path.replacing("{order}", with: try await way.order("bad", "themes.all").id)
      }
      _ = try await way.quiet()
      let before = try await way.contents()
      let counted = try await way.answers(request.party, request.status)
      let answer = try await way.send(
        request.method, request.party, path,
        body: request.body.isEmpty && request.method == "GET" ? nil : Array(request.body.utf8),
        key: request.key)
      try BadInput.expect(answer, request.status, request.type)
      #expect(try await way.answers(request.party, request.status) == counted + 1)
      _ = try await way.quiet()
      #expect(try await way.contents() == before, "nothing is stored, nothing is published")
    }

    @Test(arguments: BadRequest.all)
    func `a request that cannot be meant is refused and leaves nothing`(_ request: BadRequest)
      async throws
    {
      try await refuse(request)
    }

    @Test func `an Idempotency-Key with another body is refused`() async throws {
      let way = try way
      _ = try await way.order("bad", "themes.all", idempotencyKey: "once")
      _ = try await way.quiet()
      let before = try await way.contents()
      let answer = try await way.send(
        "POST", "order-service", "/v1/orders",
        body: Array(#"{"customer":"bad","productId":"coins.100"}"#.utf8),
        headers: [("Idempotency-Key", "once")])
      try BadInput.expect(answer, 422, "idempotency-key-reused")
      #expect(try await way.contents() == before)
    }

    /// What `POST /control/forge` makes, and the word that refuses it.
    static let forgeries: [(kind: String, reason: String)] = [
      ("other-root", "untrusted-chain"), ("bad-signature", "bad-signature"),
      ("tampered-payload", "bad-signature"), ("wrong-bundle", "wrong-app"),
      ("wrong-environment", "wrong-environment"), ("xcode", "chain-length"),
      ("expired-leaf", "certificate-expired"), ("missing-marker", "missing-marker"),
    ]

    private func forge(_ kind: String, _ object: String) async throws -> String {
      struct Forged: Decodable {
        let signedTransaction: String?
        let signedPayload: String?
      }
      let forged = try await way.ask(
        "POST", "app-store-simulator", "/control/forge", ["kind": kind, "object": object],
        as: Forged.self)
      return try #require(forged.signedTransaction ?? forged.signedPayload)
    }

    @Test(arguments: forgeries)
    func `a forged proof is rejected with the reason and gives nothing`(
      _ forgery: (kind: String, reason: String)
    ) async throws {
      let way = try way
      let order = try await way.order("forger", "themes.all")
      _ = try await way.quiet()
      let before = try await way.contents()
      let counted = try await way.metric(
        "verify-service", "proofs_total{result=\"\(forgery.reason)\"}")
      let signed = try await forge(forgery.kind, "transaction")
      let answer = try await way.send(
        "POST", "order-service", "/v1/orders/\(order.id)/proofs",
        body: Array("{\"signedTransaction\":\"\(signed)\"}".utf8),
        headers: [("Prefer", "wait=30")])
      let problem = try BadInput.expect(answer, 422, "proof-rejected")
      #expect(problem.reason == forgery.reason)
      #expect(
        try await way.metric("verify-service", "proofs_total{result=\"\(forgery.reason)\"}")
          == counted + 1)
      let refused = try await way.order(order.id)
      #expect(refused.state == .rejected && refused.rejection == forgery.reason)
      _ = try await way.quiet()
      let after = try await way.contents()
      for table in ["verify-service.lineages", "entitlement-service.purchases"] {
        #expect(after.rows[table] == before.rows[table])
      }
      #expect(way.journal.all(AppStoreFact.self) { $0.signed == signed }.isEmpty)
      let outcomes = way.journal.all(ProofOutcome.self) { $0.orderId == order.id }
      #expect(outcomes.map(\.outcome) == [.rejected])
      #expect(try await way.owned("forger").version == 0)
    }

    @Test(arguments: forgeries)
    func `a forged notification is refused and leaves nothing`(
      _ forgery: (kind: String, reason: String)
    ) async throws {
      let way = try way
      let isGenuine = ["wrong-bundle", "wrong-environment"].contains(forgery.kind)
      let signed = try await forge(forgery.kind, "notification")
      _ = try await way.quiet()
      let before = try await way.contents()
      let type = isGenuine ? "app-not-configured" : "notification-rejected"
      let series =
        "notifications_total{result=\"\(isGenuine ? "not-configured" : forgery.reason)\"}"
      let counted = try await way.metric("verify-service", series)
      let answer = try await way.send(
        "POST", "verify-service", "/v1/notifications",
        body: Array("{\"signedPayload\":\"\(signed)\"}".utf8), key: "")
      let problem = try BadInput.expect(answer, isGenuine ? 404 : 400, type)
      #expect(problem.reason == forgery.reason)
      #expect(try await way.metric("verify-service", series) == counted + 1)
      #expect(try await way.contents() == before)
    }

    @Test func `a transaction, which every customer has, is no notification and leaves nothing`()
      async throws
    {
      let way = try way
      let signed = try #require(try await way.buy("themes.all").signedTransaction)
      _ = try await way.quiet()
      let before = try await way.contents()
      for path in ["/v1/notifications", "/v1/notifications/com.no.such.app"] {
        let answer = try await way.send(
          "POST", "verify-service", path, body: Array("{\"signedPayload\":\"\(signed)\"}".utf8),
          key: "")
        let problem = try BadInput.expect(answer, 400, "notification-rejected")
        #expect(problem.reason == "not-a-notification")
      }
      #expect(try await way.contents() == before)
    }

    @Test func `a genuine notification at the URL of another app is for nobody`() async throws {
      let way = try way
      let bought = try await way.buy("themes.all")
      let uuid = try #require(bought.notificationUUID)
      let sent = try await eventually("the notification is sent") {
        let all = try await way.notifications("transactionId=\(bought.transactionId ?? "")")
        return all.first { $0.state == "delivered" }
      }
      #expect(sent.notificationUUID == uuid)
      let payload = try await way.ask(
        "GET", "app-store-simulator", "/control/notifications/\(uuid)", as: SentNotification.self
      ).signedPayload
      _ = try await way.quiet()
      let before = try await way.contents()
      let answer = try await way.send(
        "POST", "verify-service", "/v1/notifications/com.example.other",
        body: Array("{\"signedPayload\":\"\(payload ?? "")\"}".utf8), key: "")
      try BadInput.expect(answer, 404, "app-not-configured")
      #expect(try await way.contents() == before)
    }

    @Test func `a genuine notification of a type that nobody knows is kept and has no effect`()
      async throws
    {
      let way = try way
      let signed = try await forge("unknown-type", "notification")
      let answer = try await way.send(
        "POST", "verify-service", "/v1/notifications",
        body: Array("{\"signedPayload\":\"\(signed)\"}".utf8), key: "")
      #expect(answer.status == 200)
      _ = try await way.journal.first(AppStoreFact.self, "it is kept") { $0.signed == signed }
    }
  }
}
