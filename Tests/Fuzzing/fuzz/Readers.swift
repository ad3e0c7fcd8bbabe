import Cryptography

@testable import AppStore

/// What strangers can send, each through all that reads it; the answer is always 0.
enum Readers {
  static func jws(_ bytes: [UInt8]) -> Int32 {
    let text = String(decoding: bytes, as: UTF8.self)
    _ = ProofText.recognize(text)
    _ = try? Trust.verifier.verifyNotification(text)
    _ = try? Trust.verifier.verifyTransaction(text)
    _ = try? RecordedPayload.read(NotificationPayload.self, from: text)
    _ = RecordedPayload.certificateHash(of: text)
    return 0
  }

  static func receipt(_ bytes: [UInt8]) -> Int32 {
    _ = try? Trust.receipts.verify(bytes: bytes)
    _ = try? AppReceipt(content: bytes)
    let text = String(decoding: bytes, as: UTF8.self)
    _ = try? Trust.receipts.verify(text)
    _ = try? ReceiptIdentifiers.unprovedTransactionId(inLegacyTransactionReceipt: text)
    _ = try? ReceiptIdentifiers.unprovedTransactionId(inAppReceipt: Base64.encode(bytes))
    _ = try? VerifyReceiptRequest(text: text, password: nil)
    return 0
  }

  static func json(_ bytes: [UInt8]) -> Int32 {
    _ = try? TransactionPayload(json: bytes)
    _ = try? RenewalInfoPayload(json: bytes)
    _ = try? NotificationPayload(json: bytes)
    _ = try? AppTransactionPayload(json: bytes)
    _ = try? RealtimeRequestPayload(json: bytes)
    _ = try? RecordedReceipt(json: bytes)
    if let answer = try? VerifyReceiptResponse(json: bytes) {
      _ = answer.lineages(
        bundleId: "com.example.app", environment: .sandbox, receiptHash: "", now: 0)
    }
    _ = try? StatusesAnswer(json: bytes)
    _ = try? NotificationHistoryAnswer(json: bytes)
    return 0
  }

  static func ocsp(_ bytes: [UInt8]) -> Int32 {
    _ = try? Trust.question?.read(bytes, now: Trust.now)
    return 0
  }
}

/// A chain of our own: what is found must not hang on what Apple signed.
private enum Trust {
  static let now: Int64 = 1_700_000_000_000

  private static let chain: SigningChain? = {
    var plan = SigningChainPlan(
      name: "Fuzz", notBefore: now - 1_000_000_000, notAfter: now + 1_000_000_000)
    plan.leafExtensions = [.revocationAddress("http://fuzz.test/")]
    return try? plan.make()
  }()

  private static let apps = [
    AppIdentity(bundleId: "com.example.app", environments: [.sandbox])
  ]

  static let verifier = made { root in
    try SignedDataVerifier(roots: [root], apps: apps) { now }
  }

  static let receipts = made { root in try ReceiptVerifier(roots: [root], apps: apps) }

  static let question = chain.flatMap {
    try? RevocationQuestion($0.leaf, issuer: $0.intermediate)
  }

  private static func made<Value>(_ body: (Certificate) throws -> Value) -> Value {
    guard let chain, let value = try? body(chain.root) else {
      preconditionFailure("no chain for fuzzing could be made")
    }
    return value
  }
}
