import Cryptography
import TestSupport
import Testing

@testable import AppStore

/// What the public half of the key says about signatures for StoreKit.
@Suite("Signatures for StoreKit")
struct APISignatureTests {
  private let nonce = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"
  private let now: Int64 = 1_698_148_900_000

  private func key() throws -> APIKey {
    try APIKey(issuerId: "issuerId", keyId: "keyId", privateKey: PrivateKey(generate: .p256))
  }

  private func offer(
    _ key: APIKey, account: String? = nil, nonce: String? = nil, timestamp: Int64? = nil,
    bundleId: String = "com.example", offerId: String = "offer"
  ) throws(SignatureFault) -> PromotionalOfferSignature {
    try PromotionalOfferSignature(
      bundleId: bundleId, productId: "product", offerId: offerId, account: account,
      nonce: nonce ?? self.nonce, timestamp: timestamp ?? now, key: key)
  }

  @Test func `a promotional offer is signed over seven fields and U+2063`() throws {
    let key = try key()
    let token = "7E3FB20B-4CDB-47CC-936D-99D65F608138"
    let signed = try offer(key, account: token, nonce: nonce.uppercased())
    let separator: [UInt8] = [0xE2, 0x81, 0xA3]
    let fields = [
      "com.example", "keyId", "product", "offer", token.lowercased(), nonce, "1698148900000",
    ]
    let message = Array(fields.map { Array($0.utf8) }.joined(separator: separator))
    let der = try #require(Base64.decode(signed.signature))
    #expect(der.first == 0x30)
    #expect(key.publicKey.verifyDER(signature: der, over: message))
    #expect(signed.nonce == nonce && signed.timestamp == now && signed.keyId == "keyId")
  }

  @Test func `an offer without account keeps its empty place`() throws {
    let key = try key()
    let message = [
      "com.example", "keyId", "product", "offer", "", nonce, "1698148900000",
    ].joined(separator: "\u{2063}")
    let der = try #require(Base64.decode(try offer(key).signature))
    #expect(key.publicKey.verifyDER(signature: der, over: Array(message.utf8)))
  }

  @Test func `a user name is signed in lower case, as Apple's libraries do`() throws {
    let text = try PromotionalOfferSignature.text(
      bundleId: "b", keyId: "k", productId: "p", offerId: "o", account: "Maria", nonce: nonce,
      timestamp: now)
    #expect(text.contains("\u{2063}maria\u{2063}"))
  }

  @Test func `known mistakes in an offer are refused before they are signed`() throws {
    let key = try key()
    #expect(throws: SignatureFault.self) { try offer(key, nonce: "12345") }
    #expect(throws: SignatureFault.self) { try offer(key, timestamp: 1_698_148_900) }
    #expect(throws: SignatureFault.self) { try offer(key, bundleId: "") }
    #expect(throws: SignatureFault.self) { try offer(key, offerId: "a\u{2063}b") }
  }

  private func check(
    _ jws: String, _ key: APIKey, _ expected: [String: JSONTree]
  ) throws {
    let (header, claims) = try verifiedParts(jws, by: key.publicKey)
    #expect(
      header == .object(["alg": .string("ES256"), "kid": .string("keyId"), "typ": .string("JWT")]))
    var whole = expected
    whole["iss"] = .string("issuerId")
    whole["bid"] = .string("com.example")
    whole["iat"] = .number(1_698_148_900)
    whole["nonce"] = .string(nonce)
    // Nothing else: no exp above all.
    #expect(claims == .object(whole))
  }

  @Test func `a promotional offer in JWS form names the customer if known`() throws {
    let key = try key()
    func jws(_ transactionId: String?) throws -> String {
      try StoreKitJWS.promotionalOffer(
        productId: "product", offerId: "offer", transactionId: transactionId,
        bundleId: "com.example", nonce: nonce.uppercased(), now: now, key: key)
    }
    var expected: [String: JSONTree] = [
      "aud": .string("promotional-offer"), "productId": .string("product"),
      "offerIdentifier": .string("offer"),
    ]
    try check(jws(nil), key, expected)
    expected["transactionId"] = .string("12345")
    try check(jws("12345"), key, expected)
    #expect(throws: SignatureFault.self) { try jws("") }
  }

  @Test func `eligibility for an introductory offer is said both ways`() throws {
    let key = try key()
    for isAllowed in [true, false] {
      let jws = try StoreKitJWS.introductoryOfferEligibility(
        productId: "product", isAllowed: isAllowed, transactionId: "12345",
        bundleId: "com.example", nonce: nonce, now: now, key: key)
      try check(
        jws, key,
        [
          "aud": .string("introductory-offer-eligibility"), "productId": .string("product"),
          "allowIntroductoryOffer": .bool(isAllowed), "transactionId": .string("12345"),
        ])
    }
  }

  @Test(arguments: [
    ("advancedCommerceOneTimeChargeCreateRequest", "CREATE_ONE_TIME_CHARGE"),
    ("advancedCommerceSubscriptionCreateRequest", "CREATE_SUBSCRIPTION"),
    ("advancedCommerceSubscriptionModifyInAppRequest", "MODIFY_SUBSCRIPTION"),
    ("advancedCommerceSubscriptionReactivateInAppRequest", "REACTIVATE_SUBSCRIPTION"),
  ])
  func `an Advanced Commerce request gains operation and version`(
    file: String, operation: String
  ) throws {
    let key = try key()
    let fields = try TestData.bytes("apple/models/\(file).json")
    let request = try AdvancedCommerceInAppRequest(
      AdvancedCommerceInAppRequest.Operation(rawValue: operation), fields: fields)
    guard case .object(var whole) = try JSONTree(fields) else { throw SignatureFault.none }
    whole["operation"] = .string(operation)
    whole["version"] = .string("1")
    #expect(try JSONTree(request.json) == .object(whole))

    let jws = try StoreKitJWS.advancedCommerce(
      request, bundleId: "com.example", nonce: nonce, now: now, key: key)
    try check(
      jws, key,
      [
        "aud": .string("advanced-commerce-api"), "request": .string(Base64.encode(request.json)),
      ])
  }

  @Test(arguments: [
    "", "[]", "{}", "{\"requestInfo\":{}", "{\"requestInfo\":{},\"operation\":\"X\"}",
    "{\"requestInfo\":{},\"version\":\"2\"}",
  ])
  func `what is no Advanced Commerce request is refused`(json: String) {
    #expect(throws: SignatureFault.self) {
      try AdvancedCommerceInAppRequest(.createSubscription, fields: Array(json.utf8))
    }
  }
}

extension SignatureFault {
  fileprivate static let none = SignatureFault.badField("file", "is no object")
}
