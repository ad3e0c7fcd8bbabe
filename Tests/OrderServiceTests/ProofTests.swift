import Events
import FoundationEssentials
import HTTPServer
import ServiceRuntime
import Testing

@testable import order_service

@Suite("Posting proofs") struct ProofTests {
  private let world: OrderWorld

  init() throws { world = try OrderWorld() }

  @Test(arguments: [
    ("signedTransaction", "", "an empty text", nil),
    ("signedTransaction", "2000000123456789", "a transaction id", "transactionId"),
    ("signedTransaction", "a.b", "dots", nil), ("signedTransaction", "not?a?jws", "neither", nil),
    ("signedTransaction", "e30.e30.e30", "no purchase", nil),
    ("transactionId", Proofs.signed("1"), "a signed transaction", "signedTransaction"),
    ("receipt", Proofs.signed("1"), "a signed transaction", "signedTransaction"),
    ("receipt", "77", "a transaction id", "transactionId"),
    ("receipt", "AAAA", "no receipt", nil),
    ("transactionReceipt", "77", "a transaction id", "transactionId"),
  ])
  func `a text in the wrong place is named, and the place where it belongs`(
    field: String, text: String, word: String, belongs: String?
  ) async throws {
    struct Told: Decodable { let detail: String, field: String, belongsIn: String? }
    let order = try await world.place()
    let answer = try await world.prove(order, #"{"\#(field)":"\#(text)"}"#)
    let told: Told = try answer.read()
    #expect(answer.status == 422 && answer.problem == "malformed-proof")
    #expect(told.detail.contains(word) && told.field == field && told.belongsIn == belongs)
    #expect(try await world.order(order.id).state == .created)
  }

  @Test func `a receipt in the place of a signed transaction is named`() async throws {
    let order = try await world.place()
    let answer = try await world.prove(
      order, #"{"signedTransaction":"\#(try Proofs.receipt())"}"#)
    #expect(answer.problem == "malformed-proof" && answer.text.contains("an app receipt"))
    #expect(answer.text.contains(#""belongsIn":"receipt""#))
  }

  @Test(arguments: ["{}", #"{"receipt":"77","transactionId":"77"}"#])
  func `one of the four members is posted, and only one`(body: String) async throws {
    let answer = try await world.prove(try await world.place(), body)
    #expect(answer.status == 400 && answer.problem == "invalid-field")
  }

  @Test(arguments: [
    (#"{"transactionId":-5}"#, "$.transactionId", "decimal digits"),
    (#"{"transactionId":99999999999999999999999}"#, "$.transactionId", "decimal digits"),
    (#"{"transactionId":1.5}"#, "$.transactionId", "decimal digits"),
    (#"{"transactionId":true}"#, "$.transactionId", "decimal digits"),
    (#"{"signedTransaction":"\ud800"}"#, "$.signedTransaction", "valid escapes"),
    (#"{"transactionId":"\ud800"}"#, "$.transactionId", "decimal digits"),
  ])
  func `what cannot be text or an id is named with its place`(
    body: String, path: String, word: String
  ) async throws {
    struct Told: Decodable { let detail: String, path: String }
    let answer = try await world.prove(try await world.place(), body)
    let told: Told = try answer.read()
    #expect(answer.status == 400 && answer.problem == "invalid-field", "\(answer.text)")
    #expect(told.path == path && told.detail.contains(word), "\(answer.text)")
  }

  @Test(arguments: ["-5", "99999999999999999999999", "12 34"])
  func `a text that is no id is told what an id is`(text: String) async throws {
    let answer = try await world.prove(try await world.place(), #"{"transactionId":"\#(text)"}"#)
    #expect(answer.status == 422 && answer.text.contains("decimal digits"), "\(answer.text)")
  }

  @Test func `what others say of a proof is told in whole sentences`() async throws {
    #expect(sentence("the text is no JWS") == "The text is no JWS.")
    #expect(sentence("Whole already.") == "Whole already." && sentence("") == "")
    let order = try await world.place()
    _ = try await world.prove(order, Proofs.body("1"))
    try await world.decide(.rejected, reason: "bad-signature", detail: "the signature is wrong")
    let refused = try await world.prove(order, Proofs.body("1"))
    #expect(refused.text.contains("The signature is wrong. Nothing is recorded"))
    _ = try await world.prove(order, Proofs.body("2"))
    let why = "A consumable or non-renewing purchase that was credited moves by no proof."
    try await world.decide(.belongsToAnother, detail: why)
    let another = try await world.prove(order, Proofs.body("2"))
    #expect(another.text.contains("belongs to another customer. \(why) Support can move it"))
    #expect(!another.text.contains("fresh copy"), "no copy moves a consumable")
  }

  @Test func `each kind goes on its way under its name, in one encoding`() async throws {
    let receipt = try Proofs.receipt()
    // As clients send it: base64 of URLs without padding, broken into lines.
    let odd = receipt.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    let broken = stride(from: 0, to: odd.count, by: 76).map { start in
      String(odd.dropFirst(start).prefix(76))
    }.joined(separator: #"\r\n"#)
    let legacy = Data(
      #"{ "signature" = "AA=="; "purchase-info" = "eyB9"; "pod" = "7"; }"#.utf8
    ).base64EncodedString()
    let order = try await world.place()
    for body in [
      #"{"signedTransaction":" \#(Proofs.signed("1"))\n"}"#, #"{"transactionId":2000000123456789}"#,
      #"{"receipt":"\#(broken)"}"#, #"{"transactionReceipt":"\#(legacy)"}"#,
    ] {
      let answer = try await world.prove(order, body)
      #expect(answer.status == 202, "\(answer.text)")
    }
    // The same receipt in another encoding is the same proof.
    #expect(try await world.prove(order, #"{"receipt":"\#(receipt)"}"#).status == 202)
    let proofs: [Proof] = try await world.published(.proofSubmitted)
    #expect(
      proofs.map(\.kind) == [.signedTransaction, .transactionId, .receipt, .transactionReceipt])
    #expect(proofs.map(\.content) == [Proofs.signed("1"), "2000000123456789", receipt, legacy])
    #expect(Set(proofs.map(\.id)).count == 4)
  }

  @Test func `the same proof at every launch is answered alike and without a write`() async throws {
    let order = try await world.place()
    _ = try await world.prove(order, Proofs.body("1"))
    try await world.decide(token: order.id)
    let first = try await world.prove(order, Proofs.body("1"))
    let before = world.commits
    #expect(!before.isEmpty)
    for _ in 1...20 {
      let again = try await world.prove(order, Proofs.body("1"), wait: 10)
      #expect(again.status == 200 && again.body == first.body)
    }
    #expect(world.commits == before)
    #expect(try await world.published(.proofSubmitted, as: Proof.self).count == 1)
  }

  @Test func `a refused proof is verified anew when it is posted an hour later`() async throws {
    let order = try await world.place()
    _ = try await world.prove(order, Proofs.body("1"))
    try await world.decide(.rejected, reason: "wrong-environment")
    #expect(try await world.prove(order, Proofs.body("1")).problem == "proof-rejected")
    world.clock.advance(by: ProofID.patience)
    #expect(try await world.prove(order, Proofs.body("1")).status == 202)
    try await world.decide(token: order.id)
    let answer = try await world.prove(order, Proofs.body("1"))
    #expect(answer.status == 200)
    #expect(try await world.order(order.id).state == .completed)
    let proofs: [Proof] = try await world.published(.proofSubmitted)
    #expect(Set(proofs.map(\.id)).count == 2)
  }

  @Test func `an order takes the renewals of nineteen years of weeks, and no more`() async throws {
    let order = try await world.place()
    for number in 1...1000 {
      let status = try await world.prove(order, Proofs.body("\(number)")).status
      try #require(status == 202)
    }
    let answer = try await world.prove(order, Proofs.body("1001"))
    #expect(answer.status == 429 && answer.problem == "too-many-proofs")
    #expect(answer.text.contains("/v1/restores"))
    #expect(try await world.prove(order, Proofs.body("1000")).status == 202)
  }

  @Test(arguments: ["transfer", "transfer-if-inactive", "keep"])
  func `that a purchase is another's is explained by the app's policy`(policy: String) async throws
  {
    struct Told: Decodable { let policy: String, finish: Bool, detail: String, lineage: String }
    let world = try OrderWorld(transfer: policy)
    let order = try await world.place("bob", "pro.monthly")
    _ = try await world.prove(order, Proofs.body("1"))
    try await world.decide(.belongsToAnother, product: "pro.monthly")
    let answer = try await world.prove(order, Proofs.body("1"))
    let told: Told = try answer.read()
    #expect(answer.status == 409 && answer.problem == "belongs-to-another")
    #expect(told.policy == policy && told.finish && told.detail.contains("'\(policy)'"))
    #expect(told.detail.contains("Support can move it"))
    #expect(told.lineage == "com.example.app/Sandbox/1")
  }

  @Test func `what is asked about a customer counts against the customer's quota, by whatever key`()
    async throws
  {
    let limits = RateLimits(
      perKey: RateQuota(requests: 100, seconds: 1),
      perCustomer: RateQuota(requests: 5, seconds: 60),
      metrics: Metrics())
    let world = try OrderWorld(
      access: AccessPolicy(
        identify: { text throws(Problem) in Principal(name: text, scopes: [.orders]) },
        limits: limits))
    let key = [("Authorization", "Bearer backend")]
    let placed = try await world.send(
      .post, "/v1/orders", #"{"customer":"alice","productId":"coins.100"}"#, headers: key)
    let order: Order = try placed.read()
    for _ in 0..<2 {
      let proof = try await world.send(
        .post, "/v1/orders/\(order.id)/proofs", Proofs.body("1"), headers: key)
      #expect(proof.status == 202)
    }
    #expect(try await world.send(.get, "/v1/orders/\(order.id)", headers: key).status == 200)
    #expect(try await world.send(.get, "/v1/orders?customer=alice", headers: key).status == 200)
    let refused = try await world.send(
      .post, "/v1/orders/\(order.id)/proofs", Proofs.body("2"), headers: key)
    #expect(refused.status == 429 && refused.problem == "rate-limited")
    // Refused before anything was done.
    let proofs: [Proof] = try await world.published(.proofSubmitted)
    #expect(proofs.count == 1)
    #expect(try await world.send(.get, "/v1/orders?customer=bob", headers: key).status == 200)
  }

  @Test func `a waiting app hears when its proof is decided`() async throws {
    let order = try await world.place()
    async let answer = world.prove(order, Proofs.body("1"), wait: 30)
    while world.notices.requests.count == 0 { await Task.yield() }
    while try await (world.published(.proofSubmitted) as [Proof]).isEmpty { await Task.yield() }
    try await world.decide(token: order.id)
    #expect(try await answer.status == 200)
  }
}
