import AppStore
import Cryptography
import Events
import HTTPClient
import Synchronization
import TestSupport
import Testing

@testable import verify_service

@Suite("Proofs about which Apple is asked") struct AskAppleTests {
  private func row(_ proof: Proof) -> PendingProofs.Row {
    PendingProofs.Row(proof: proof, since: AppStoreChains.now, tries: 0, trace: nil)
  }

  private func ask(_ samples: IntakeSamples, _ apple: ScriptedApple) throws -> AskApple {
    var timing = APITiming { AppStoreChains.now }
    timing.sleep = { _ in }
    let context = APIContext(timing: timing) { (request) async throws(HTTPClientError) in
      try apple.send(request)
    }
    let key = try APIKey(
      issuerId: "57246542-96fe-1a63-e053-0824d011072a", keyId: "2X9R4HXF34",
      privateKey: try PrivateKey(generate: .p256))
    let clients = try [AppEnvironment.production, .sandbox].map {
      try AppStoreServerAPI(
        bundleId: samples.bundleId, environment: $0, key: key, context: context)
    }
    return AskApple(
      judge: samples.judge, revocation: samples.revocation,
      lookups: [samples.bundleId: EnvironmentLookup(clients)],
      verifyReceipt: VerifyReceiptClient(
        production: "https://production", sandbox: "https://sandbox",
        secrets: [
          "com.example.app": try #require(SharedSecret("secret")),
          "com.other": try #require(SharedSecret("other")),
        ], apps: samples.apps,
        transport: { (request) async throws(HTTPClientError) in try apple.send(request) }
      ) { AppStoreChains.now })
  }

  private func judgement(_ answer: IntakeWorker.Answer) throws -> Judgement {
    guard case .decided(let judgement) = answer else {
      Issue.record("nothing was decided: \(answer)")
      throw IntakeFault.undecided
    }
    return judgement
  }

  private func isLater(_ answer: IntakeWorker.Answer) -> Bool {
    if case .tryLater = answer { true } else { false }
  }

  @Test func `an id is looked up in production, then in the sandbox, and what Apple signed counts`()
    async throws
  {
    let samples = try IntakeSamples()
    let apple = ScriptedApple([
      ScriptedApple.json(
        #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#, status: 404),
      ScriptedApple.json(#"{"signedTransactionInfo":"\#(try samples.transaction())"}"#),
    ])
    let answer = try await ask(samples, apple).ask(row(samples.proof(.transactionId, "2000")))
    #expect(try judgement(answer).lineages == ["com.example.app/Sandbox/1000"])
    #expect(apple.urls.map { $0.contains("sandbox") } == [false, true])
  }

  @Test func `an id that nobody knows is refused for good`() async throws {
    let samples = try IntakeSamples()
    let unknown = ScriptedApple.json(
      #"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#, status: 404)
    let answer = try await ask(samples, ScriptedApple([unknown, unknown])).ask(
      row(samples.proof(.transactionId, "2000")))
    #expect(try judgement(answer).reason == "unknown-transaction")
  }

  @Test(arguments: [401, 429, 500, 503])
  func `what says nothing about the transaction is asked again`(status: Int) async throws {
    let samples = try IntakeSamples()
    let apple = ScriptedApple(
      Array(repeating: ScriptedApple.json("", status: status), count: 20))
    let answer = try await ask(samples, apple).ask(row(samples.proof(.transactionId, "2000")))
    #expect(isLater(answer))
  }

  @Test func `an answer by a stranger proves nothing`() async throws {
    let samples = try IntakeSamples()
    let stranger = try AppStoreChains.plan(name: "Stranger").make()
    var payload = TransactionPayload()
    payload.transactionId = "2000"
    payload.signedDate = AppStoreChains.now
    let apple = ScriptedApple([
      ScriptedApple.json(#"{"signedTransactionInfo":"\#(try stranger.signer.sign(payload))"}"#)
    ])
    let answer = try await ask(samples, apple).ask(row(samples.proof(.transactionId, "2000")))
    #expect(try judgement(answer).reason == "untrusted-chain")
  }

  private static let apples = """
    {"status": 0, "environment": "Sandbox", "receipt": {"bundle_id": "com.example.app",
     "request_date_ms": "1700000005000", "in_app": [
      {"transaction_id": "1000", "original_transaction_id": "1000", "product_id": "pro",
       "quantity": "1", "purchase_date_ms": "1699999000000", "expires_date_ms": "1700009000000"}]},
     "latest_receipt_info": [
      {"transaction_id": "1001", "original_transaction_id": "1000", "product_id": "pro",
       "quantity": "1", "purchase_date_ms": "1699999900000", "expires_date_ms": "1700009900000",
       "app_account_token": "0007A3C4-5B1E-4F0A-9D2C-1F6B8E3A7C55"}],
     "pending_renewal_info": [
      {"original_transaction_id": "1000", "auto_renew_status": "0", "auto_renew_product_id": "pro"}]}
    """

  @Test func `verifyReceipt is asked at production first, and in the sandbox on 21007`()
    async throws
  {
    let samples = try IntakeSamples(receipts: "verifyReceipt")
    let apple = ScriptedApple([
      ScriptedApple.json(#"{"status": 21007}"#), ScriptedApple.json(Self.apples),
    ])
    let proof = samples.proof(.receipt, try samples.receipt(["1000"]))
    let judged = try judgement(try await ask(samples, apple).ask(row(proof)))
    #expect(judged.lineages == ["com.example.app/Sandbox/1000"])
    #expect(apple.urls == ["https://production", "https://sandbox"])
    let body = apple.requests.withLock { String(decoding: $0[0].body ?? [], as: UTF8.self) }
    #expect(body.contains("\"password\":\"secret\""))

    // What it says is marked as not signed singly, and is dated by Apple's time of the request.
    guard case .proved(let facts) = judged else { return }
    let books = try TestLedger()
    try await books.change { try facts.publish(for: proof, $0) }
    for fact in try await books.facts() {
      if let read = try FactContents.read(fact) { try await books.tell(read) }
    }
    let state = try #require(try await books.states().last)
    #expect(state.transactions.map(\.transactionId) == ["1000", "1001"])
    #expect(state.transactions.allSatisfy { $0.evidence == "verify-receipt" })
    #expect(state.transactions.allSatisfy { $0.signedDate == 1_700_000_005_000 })
    #expect(state.transactions.last?.appAccountToken == "0007a3c4-5b1e-4f0a-9d2c-1f6b8e3a7c55")
    #expect(state.renewal?.autoRenewStatus == 0 && state.renewal?.evidence == "verify-receipt")
    #expect(state.customer == "alice")
  }

  @Test func `with both, the signed receipt decides and Apple's answer adds what is newer`()
    async throws
  {
    let samples = try IntakeSamples(receipts: "both")
    let apple = ScriptedApple([
      ScriptedApple.json(#"{"status": 21007}"#), ScriptedApple.json(Self.apples),
    ])
    let proof = samples.proof(.receipt, try samples.receipt(["1000", "4000"]))
    let judged = try judgement(try await ask(samples, apple).ask(row(proof)))
    #expect(judged.lineages == ["1000", "4000"].map { "com.example.app/Sandbox/\($0)" })
    guard case .proved(let facts) = judged else { return }
    #expect(facts.parts.map(\.decides) == [true, true, false])
  }

  @Test func `a receipt of another configured app is asked about with that app's secret`()
    async throws
  {
    let samples = try IntakeSamples(receipts: "verifyReceipt", others: ["com.other"])
    let apple = ScriptedApple([
      ScriptedApple.json(#"{"status": 21007}"#),
      ScriptedApple.json(Self.apples.replacing("com.example.app", with: "com.other")),
    ])
    let proof = samples.proof(.receipt, try samples.receipt(["1000"], bundleId: "com.other"))
    let judged = try judgement(try await ask(samples, apple).ask(row(proof)))
    #expect(judged.lineages == ["com.other/Sandbox/1000"])
    let body = apple.requests.withLock { String(decoding: $0[0].body ?? [], as: UTF8.self) }
    #expect(body.contains("\"password\":\"other\""))
  }

  @Test(arguments: [21002, 21005, 21009, 21100, 21199])
  func `passing faults of verifyReceipt are asked again`(status: Int) async throws {
    let samples = try IntakeSamples(receipts: "verifyReceipt")
    let apple = ScriptedApple([ScriptedApple.json(#"{"status": \#(status)}"#)])
    let proof = samples.proof(.receipt, try samples.receipt(["1"]))
    #expect(isLater(try await ask(samples, apple).ask(row(proof))))
  }

  @Test(arguments: [
    (#"{"status": 21003}"#, "not-authentic"), (#"{"status": 21004}"#, "wrong-shared-secret"),
    (#"{"status": 21010}"#, "account-not-found"),
    (#"{"status": 21100, "is_retryable": 0}"#, "internal-fault"),
    (#"{"status": 0, "receipt": {"bundle_id": "com.other"}}"#, "wrong-app"),
  ])
  func `lasting refusals of verifyReceipt are outcomes`(answer: String, reason: String)
    async throws
  {
    let samples = try IntakeSamples(receipts: "verifyReceipt")
    let proof = samples.proof(.receipt, try samples.receipt(["1"]))
    let asked = try await ask(samples, ScriptedApple([ScriptedApple.json(answer)])).ask(row(proof))
    #expect(try judgement(asked).reason == reason)
  }

  @Test func `HTTP errors, garbage and silence of verifyReceipt decide nothing`() async throws {
    let samples = try IntakeSamples(receipts: "verifyReceipt")
    let proof = samples.proof(.receipt, try samples.receipt(["1"]))
    for apple in [
      ScriptedApple([ScriptedApple.json("", status: 502)]),
      ScriptedApple([ScriptedApple.json("<html>")]), ScriptedApple([]),
    ] {
      #expect(isLater(try await ask(samples, apple).ask(row(proof))))
    }
  }

  @Test func `a transaction receipt of iOS 6 only yields an id to ask about`() async throws {
    let samples = try IntakeSamples()
    let info = Base64.encode(Array(#"{"transaction-id" = "2000";}"#.utf8))
    let legacy = Base64.encode(Array(#"{"purchase-info" = "\#(info)";}"#.utf8))
    let apple = ScriptedApple([
      ScriptedApple.json(#"{"signedTransactionInfo":"\#(try samples.transaction())"}"#)
    ])
    let proof = samples.proof(.transactionReceipt, legacy)
    let judged = try judgement(try await ask(samples, apple).ask(row(proof)))
    #expect(apple.urls.first?.hasSuffix("/2000") == true)
    // The ledger binds such a fact as it binds an id.
    guard case .proved(let facts) = judged else { return }
    let books = try TestLedger()
    try await books.change { try facts.publish(for: proof, $0) }
    for fact in try await books.facts() {
      if let read = try FactContents.read(fact) { try await books.tell(read) }
    }
    #expect(try await books.outcomes().map(\.reason) == ["not-bound"])
    #expect(try await books.states().allSatisfy { Customer.isProvisional($0.customer) })
  }
}
