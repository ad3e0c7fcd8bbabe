import Cryptography
import FoundationEssentials
import Glibc
import Processes
import ServiceRuntime
import TestSupport
import Testing

@testable import AppStore

/// Apple publishes no known answers for offers, so its own library is asked: both sign the same, and each
/// is verified by the other.
@Suite("Apple's own library on offers", .timeLimit(.minutes(2))) struct OfferJudgeTests {
  private static let nonce = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"
  private static let now: Int64 = 1_800_000_000_000
  private static let accounts = ["", "7E3FB20B-4CDB-47CC-936D-99D65F608138", "Maria Müller"]

  private struct Given: Encodable {
    struct Old: Encodable { let account: String, signature: String }
    let key: String, keyId: String, issuerId: String, bundleId: String, productId: String
    let offerId: String, nonce: String, timestamp: Int64
    let old: [Old], promotional: [String], introductory: [String]
  }

  private struct Answers: Decodable {
    struct Old: Decodable { let signature: String, payload: String }
    let old: [Old], promotional: [String], introductory: [String]
  }

  private func judged(_ given: Given) async throws -> Answers {
    let python = TestData.packageRoot + "/.venv/bin/python3"
    try #require(unsafe access(python, X_OK) == 0, "no \(python); run deploy/scripts/setup")
    let folder = TestFolder.path("judge")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try JSONEncoder().encode(given).write(to: URL(filePath: "\(folder)/given.json"))
    let judge = try ChildProcess(
      ChildProcess.Program(
        name: "judge", executable: python,
        arguments: [
          TestData.packageRoot + "/Tests/Fixtures/appstore/offer_judge.py", "\(folder)/given.json",
        ], logFile: "\(folder)/log"))
    let ending = await judge.ending.value()
    let log = try Data(contentsOf: URL(filePath: "\(folder)/log"))
    try #require(ending == .exit(0), "\(String(decoding: log, as: UTF8.self))")
    return try JSONDecoder().decode(Answers.self, from: log)
  }

  @Test func `both sign the same offers, and each verifies the other`() async throws {
    let secret = try PrivateKey(generate: .p256)
    let key = try APIKey(
      issuerId: "57246542-96fe-1a63-e053-0824d011072a", keyId: "2X9R4HXF34", privateKey: secret)
    let bundle = "com.example.app"
    let old = try Self.accounts.map { account in
      Given.Old(
        account: account,
        signature: try PromotionalOfferSignature(
          bundleId: bundle, productId: "pro", offerId: "back", account: account,
          nonce: Self.nonce, timestamp: Self.now, key: key
        ).signature)
    }
    let promotional = try [nil, "7001"].map { id in
      try StoreKitJWS.promotionalOffer(
        productId: "pro", offerId: "back", transactionId: id, bundleId: bundle, nonce: Self.nonce,
        now: Self.now, key: key)
    }
    let introductory = try [true, false].map { isAllowed in
      try StoreKitJWS.introductoryOfferEligibility(
        productId: "pro", isAllowed: isAllowed, transactionId: "7001", bundleId: bundle,
        nonce: Self.nonce, now: Self.now, key: key)
    }
    let apple = try await judged(
      Given(
        key: try secret.pem(), keyId: key.keyId, issuerId: key.issuerId, bundleId: bundle,
        productId: "pro", offerId: "back", nonce: Self.nonce, timestamp: Self.now, old: old,
        promotional: promotional, introductory: introductory))

    for (account, one) in zip(Self.accounts, apple.old) {
      let text = try PromotionalOfferSignature.text(
        bundleId: bundle, keyId: key.keyId, productId: "pro", offerId: "back", account: account,
        nonce: Self.nonce, timestamp: Self.now)
      #expect(Base64.decode(one.payload) == Array(text.utf8), "\(account)")
      let signature = try #require(Base64.decode(one.signature))
      #expect(secret.publicKey.verifyDER(signature: signature, over: Array(text.utf8)))
    }
    #expect(apple.old.count == 3 && apple.promotional.count == 2 && apple.introductory.count == 2)
    for jws in apple.promotional + apple.introductory {
      _ = try verifiedParts(jws, by: secret.publicKey)
    }
  }
}
