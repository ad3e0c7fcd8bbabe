import AppStore
import Catalog
import Cryptography
import Events
import HTTPClient
import ServiceRuntime
import Synchronization
import TestSupport

@testable import verify_service

/// What the tests of the intake need: an app, a judge, and an Apple that answers as it is told.
struct IntakeSamples {
  let bundleId = "com.example.app"
  let chain: SigningChain
  let apps: Apps
  let judge: ProofJudge
  let revocation: RevocationCheck

  /// - Parameter others: Further apps that are configured.
  init(receipts: String = "local", hasKey: Bool = true, others: [String] = []) throws {
    chain = try AppStoreChains.chain()
    let further = others.map {
      #", {"bundleId": "\#($0)", "appAppleId": 2, "environments": {"Production": {}, "Sandbox": {}}, "#
        + #""sharedSecretFile": "s", "policies": {"receipts": "\#(receipts)"}}"#
    }.joined()
    apps = try Apps(
      json: Array(
        """
        {"roots": ["r"], "catalog": "c", "apps": [{"bundleId": "com.example.app", "appAppleId": 1,
         "environments": {"Production": {}, "Sandbox": {}}, "sharedSecretFile": "s",
         "policies": {"receipts": "\(receipts)"}}\(further)]}
        """.utf8))
    let own = bundleId
    let identities = ([own] + others).map { id in
      AppIdentity(
        bundleId: id, appAppleId: id == own ? 1 : 2, environments: [.production, .sandbox])
    }
    let timing = APITiming { AppStoreChains.now }
    revocation = RevocationCheck(
      RevocationChecker(timing: timing) { (_) throws(HTTPClientError) in
        throw HTTPClientError(kind: .cannotConnect, origin: "test", detail: "away")
      }, metrics: Metrics()
    ) { AppStoreChains.now }
    judge = ProofJudge(
      verifier: try SignedDataVerifier(roots: [chain.root], apps: identities) {
        AppStoreChains.now
      }, receipts: try ReceiptVerifier(roots: [chain.root], apps: identities), apps: apps,
      revocation: revocation, appsWithKey: hasKey ? ["com.example.app"] : []
    ) { AppStoreChains.now }
  }

  func proof(_ kind: ProofKind, _ content: String, id: String = "p") -> Proof {
    Proof(
      id: id, orderId: "o", customer: "alice", bundleId: bundleId, kind: kind, content: content,
      submittedAt: AppStoreChains.now)
  }

  func transaction(_ fill: (inout TransactionPayload) -> Void = { _ in }) throws -> String {
    var payload = TransactionPayload()
    payload.transactionId = "2000"
    payload.originalTransactionId = "1000"
    payload.bundleId = bundleId
    payload.productId = "pro"
    payload.type = .autoRenewable
    payload.purchaseDate = AppStoreChains.now - 1000
    payload.expiresDate = AppStoreChains.now + 1_000_000
    payload.signedDate = AppStoreChains.now
    payload.environment = .sandbox
    payload.transactionReason = .purchase
    fill(&payload)
    return try chain.signer.sign(payload)
  }

  func receipt(
    _ ids: [String], environment: String = "ProductionSandbox", bundleId: String? = nil
  ) throws -> String {
    var receipt = AppReceipt(
      environmentName: environment, bundleId: bundleId ?? self.bundleId,
      creationDate: AppStoreChains.now)
    receipt.inApps = ids.map { id in
      var inApp = InAppReceipt(
        productId: "pro", transactionId: id, originalTransactionId: id,
        purchaseDate: AppStoreChains.now - 5000)
      inApp.productType = .nonConsumable
      return inApp
    }
    return Base64.encode(try chain.receiptSigner.sign(receipt))
  }
}

/// Answers requests in a row, and remembers them.
final class ScriptedApple: Sendable {
  private let script: Mutex<[Result<HTTPResponse, HTTPClientError>]>
  let requests = Mutex<[HTTPRequest]>([])

  init(_ answers: [Result<HTTPResponse, HTTPClientError>]) { script = Mutex(answers) }

  var urls: [String] { requests.withLock { $0.map(\.url) } }

  func send(_ request: HTTPRequest) throws(HTTPClientError) -> HTTPResponse {
    requests.withLock { $0.append(request) }
    let next = script.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    let away = HTTPClientError(kind: .cannotConnect, origin: "test", detail: "away")
    return try (next ?? .failure(away)).get()
  }

  static func json(_ text: String, status: Int = 200, headers: [(String, String)] = [])
    -> Result<HTTPResponse, HTTPClientError>
  {
    .success(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
  }
}

extension Judgement {
  /// The parts that decide, for short expectations.
  var lineages: [String]? {
    guard case .proved(let facts) = self else { return nil }
    return facts.parts.filter(\.decides).map(\.lineage.description)
  }

  var reason: String? {
    guard case .rejected(let reason, _) = self else { return nil }
    return reason
  }
}
