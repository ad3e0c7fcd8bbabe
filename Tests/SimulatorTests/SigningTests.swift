import AppStore
import Cryptography
import Testing

@testable import app_store_simulator

@Suite("Signed like Apple")
struct SigningTests {
  private let signer: StoreSigner
  private let verifier: SignedDataVerifier

  init() throws {
    let chain = try SigningChain.make(
      notBefore: january31 - 3_000 * day, notAfter: january31 + 3_000 * day)
    signer = StoreSigner(
      chain: chain, bundleId: "com.example.app", environment: .sandbox, appAppleId: 77)
    // What others have of the chain is the file of its root.
    verifier = try SignedDataVerifier(
      roots: [Certificate(der: chain.rootDER)],
      apps: [AppIdentity(bundleId: "com.example.app", environments: [.sandbox])]
    ) { january31 }
  }

  @Test func `transactions, renewal info and notifications pass a strict verifier`() throws {
    var ledger = try TestStore.ledger()
    let happening = try ledger.buy("pro.monthly")
    let signed = try signer.sign(happening, uuid: "7b2fc3f6-7c0e-4c41-9f0d-2f1a0b6f8d11")
    let verified = try verifier.verifyNotification(signed)
    let payload = verified.notification.payload
    #expect(payload.notificationType == .subscribed)
    #expect(payload.subtype == .initialBuy)
    #expect(payload.notificationUUID == "7b2fc3f6-7c0e-4c41-9f0d-2f1a0b6f8d11")
    #expect(payload.version == "2.0")
    #expect(payload.signedDate == january31)
    #expect(payload.data?.status == .active)
    #expect(payload.data?.bundleId == "com.example.app")
    #expect(payload.data?.appAppleId == nil)
    var expected = try #require(happening.transaction)
    expected.signedDate = january31
    #expect(verified.transaction?.payload == expected)
    #expect(verified.renewalInfo?.payload.signedDate == january31)

    let later = try signer.sign(expected, at: january31 + 5)
    #expect(try verifier.verifyTransaction(later).payload.signedDate == january31 + 5)
  }

  @Test func `Production notifications name the app`() throws {
    let production = StoreSigner(
      chain: signer.chain, bundleId: "com.example.app", environment: .production, appAppleId: 77)
    let happening = Happening(
      type: .test, subtype: nil, at: january31, transaction: nil, renewalInfo: nil, status: nil)
    let verifier = try SignedDataVerifier(
      roots: [signer.chain.root],
      apps: [
        AppIdentity(bundleId: "com.example.app", appAppleId: 77, environments: [.production])
      ]
    ) { january31 }
    let test = try verifier.verifyNotification(try production.sign(happening, uuid: "u"))
    #expect(test.notification.payload.data?.appAppleId == 77)
    #expect(test.transaction == nil)
  }

  private static let refusals: [(Forgery.Kind, Rejection.Code)] = [
    (.otherRoot, .untrustedChain), (.badSignature, .badSignature),
    (.tamperedPayload, .badSignature), (.wrongBundle, .wrongApp),
    (.wrongEnvironment, .wrongEnvironment), (.xcode, .chainLength),
    (.expiredLeaf, .certificateExpired), (.missingMarker, .missingMarker),
  ]

  @Test(arguments: refusals)
  func `each forgery is refused for its own reason`(
    kind: Forgery.Kind, code: Rejection.Code
  ) throws {
    var ledger = try TestStore.ledger()
    let happening = try ledger.buy("pro.monthly")
    let forgery = Forgery(signer, at: january31)
    let transaction = try forgery.make(kind, .transaction, of: happening)
    let notification = try forgery.make(kind, .notification, of: happening)
    let first = #expect(throws: Rejection.self) { try verifier.verifyTransaction(transaction) }
    #expect(first?.code == code)
    let second = #expect(throws: Rejection.self) { try verifier.verifyNotification(notification) }
    #expect(second?.code == code)
  }

  @Test func `every kind of forgery but the unknown type is held by the list above`() {
    #expect(Set(Self.refusals.map(\.0)).union([.unknownType]) == Set(Forgery.Kind.allCases))
  }

  @Test func `a notification of an unknown type is genuine`() throws {
    var ledger = try TestStore.ledger()
    let text = try Forgery(signer, at: january31).make(
      .unknownType, .notification, of: try ledger.buy("coins"))
    let verified = try verifier.verifyNotification(text)
    #expect(verified.notification.payload.notificationType?.rawValue == "SOMETHING_NEW")
  }
}
