import AppStore
import Cryptography
import TestSupport
import Testing

@Suite("Notifications")
struct NotificationTests {
  static let now = AppStoreChains.now

  struct Story {
    var notification = NotificationPayload()
    var transaction = TransactionPayload()
    var renewal = RenewalInfoPayload()
    let chain: SigningChain
    let verifier: SignedDataVerifier

    init() throws {
      chain = try AppStoreChains.chain()
      verifier = try SignedDataVerifier(
        roots: [chain.root],
        apps: [
          AppIdentity(
            bundleId: "com.example", appAppleId: 41, environments: [.sandbox, .production]),
          AppIdentity(bundleId: "com.second", environments: [.sandbox]),
        ],
        clock: { NotificationTests.now })
      transaction.transactionId = "2"
      transaction.originalTransactionId = "1"
      transaction.bundleId = "com.example"
      transaction.environment = .sandbox
      renewal.originalTransactionId = "1"
      renewal.environment = .sandbox
      notification.notificationType = .didRenew
      var data = NotificationData()
      data.bundleId = "com.example"
      data.environment = .sandbox
      notification.data = data
    }

    func text(
      transactionBy signer: JWSSigner? = nil, renewalBy renewalSigner: JWSSigner? = nil
    ) throws -> String {
      var whole = notification
      whole.data?.signedTransactionInfo = try (signer ?? chain.signer).sign(transaction)
      whole.data?.signedRenewalInfo = try (renewalSigner ?? chain.signer).sign(renewal)
      return try chain.signer.sign(whole)
    }

    func rejection(_ text: String) -> Rejection? {
      do {
        _ = try verifier.verifyNotification(text)
        return nil
      } catch {
        return error
      }
    }
  }

  @Test func `every enclosed object is verified and given back`() throws {
    let story = try Story()
    let verified = try story.verifier.verifyNotification(story.text())
    #expect(verified.transaction?.payload == story.transaction)
    #expect(verified.renewalInfo?.payload == story.renewal)
    #expect(verified.notification.app?.bundleId == "com.example")
    #expect(verified.transaction?.app?.bundleId == "com.example")
  }

  @Test func `an enclosed object that was signed by another is refused with its place`() throws {
    let story = try Story()
    let stranger = try AppStoreChains.plan().make().signer
    let first = story.rejection(try story.text(transactionBy: stranger))
    #expect(first?.code == .untrustedChain && first?.part == "data.signedTransactionInfo")
    #expect(first?.isGenuine == false)
    let second = story.rejection(try story.text(renewalBy: stranger))
    #expect(second?.code == .untrustedChain && second?.part == "data.signedRenewalInfo")
    var unsigned = story.notification
    unsigned.data?.signedTransactionInfo = "signed_transaction_info_value"
    let third = story.rejection(try story.chain.signer.sign(unsigned))
    #expect(third?.code == .malformedJWS && third?.part == "data.signedTransactionInfo")
  }

  @Test func `enclosed objects of another app, environment or subscription are refused`() throws {
    var story = try Story()
    story.transaction.bundleId = "com.second"
    #expect(story.rejection(try story.text())?.code == .identityMismatch)
    story = try Story()
    story.transaction.environment = .production
    #expect(story.rejection(try story.text())?.code == .identityMismatch)
    story = try Story()
    story.renewal.environment = .production
    #expect(story.rejection(try story.text())?.part == "data.signedRenewalInfo")
    story = try Story()
    story.renewal.originalTransactionId = "9"
    #expect(story.rejection(try story.text())?.code == .identityMismatch)
  }

  @Test func `the app's number must fit in Production`() throws {
    var story = try Story()
    story.notification.data?.environment = .production
    story.transaction.environment = .production
    story.renewal.environment = .production
    #expect(story.rejection(try story.text())?.code == .wrongApp)
    story.notification.data?.appAppleId = 41
    #expect(story.rejection(try story.text()) == nil)
  }

  @Test func `every form tells its app, and a form without one is genuine but unknown`() throws {
    let story = try Story()
    func code(_ fill: (inout NotificationPayload) -> Void) throws -> Rejection? {
      var payload = NotificationPayload()
      fill(&payload)
      return story.rejection(try story.chain.signer.sign(payload))
    }
    var summary = NotificationSummary()
    summary.bundleId = "com.second"
    summary.environment = .sandbox
    #expect(try code { $0.summary = summary } == nil)
    var token = ExternalPurchaseToken()
    token.bundleId = "com.example"
    token.appAppleId = 41
    token.externalPurchaseId = "b2158121"
    #expect(try code { $0.externalPurchaseToken = token } == nil)
    token.bundleId = "com.second"
    #expect(try code { $0.externalPurchaseToken = token }?.code == .wrongApp)
    token.externalPurchaseId = "SANDBOX_b2158121"
    #expect(try code { $0.externalPurchaseToken = token } == nil)
    let unknown = try code { $0.notificationType = NotificationType(rawValue: "NEW") }
    #expect(unknown?.code == .unknownForm && unknown?.isGenuine == true)
  }

  @Test func `withdrawn consent encloses an app transaction, which must agree`() throws {
    let story = try Story()
    var download = AppTransactionPayload()
    download.bundleId = "com.example"
    download.receiptType = .sandbox
    var appData = NotificationAppData()
    appData.bundleId = "com.example"
    appData.environment = .sandbox
    appData.signedAppTransactionInfo = try story.chain.signer.sign(download)
    var payload = NotificationPayload()
    payload.notificationType = .rescindConsent
    payload.appData = appData
    let verified = try story.verifier.verifyNotification(story.chain.signer.sign(payload))
    #expect(verified.appTransaction?.payload == download)
    download.bundleId = "com.second"
    payload.appData?.signedAppTransactionInfo = try story.chain.signer.sign(download)
    let rejection = story.rejection(try story.chain.signer.sign(payload))
    #expect(rejection?.code == .identityMismatch)
    #expect(rejection?.part == "appData.signedAppTransactionInfo")
  }

  @Test func `a real-time request finds its app by number`() throws {
    let story = try Story()
    var request = RealtimeRequestPayload()
    request.appAppleId = 41
    request.environment = .production
    let jws = try story.chain.signer.sign(request)
    #expect(try story.verifier.verifyRealtimeRequest(jws).app?.bundleId == "com.example")
    request.appAppleId = 42
    let other = try story.chain.signer.sign(request)
    let rejection = #expect(throws: Rejection.self) {
      try story.verifier.verifyRealtimeRequest(other)
    }
    #expect(rejection?.code == .wrongApp)
  }
}
