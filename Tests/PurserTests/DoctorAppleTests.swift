import AppStore
import Catalog
import Cryptography
import HTTPServer
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import purser

/// What the doctor says of Apple's API and notifications, with a server in Apple's place.
@Suite("Doctor: Apple", .serialized, .timeLimit(.minutes(2))) struct DoctorAppleTests {
  /// What the server answers.
  private struct Apple: Sendable {
    /// The status of a question for a transaction, by environment.
    var access: [String: Int] = [:]
    /// Apple's refusal of a test notification.
    var refusal: Int64?
    /// How the test notification ended; nil while it was not tried.
    var result: String? = "SUCCESS"
    var signed: String?
  }

  private static let app = "com.example.app"

  private func apps(_ environments: [String] = ["Sandbox"], appAppleId: Int64 = 77) throws -> Apps {
    let list = environments.map { "\"\($0)\": {}" }.joined(separator: ",")
    return try Apps(
      json: Array(
        """
        {"roots": ["a.der"], "catalog": "c.json", "apps": [
          {"bundleId": "\(Self.app)", "appAppleId": \(appAppleId), "environments": {\(list)}}]}
        """.utf8))
  }

  private func router(_ apple: Apple) -> Router {
    var router = Router()
    router.on(.get, "/{environment}", scope: nil) { _ in .text("Apple") }
    router.on(.get, "/{environment}/inApps/v1/transactions/{id}", scope: nil) { request in
      let status = apple.access[request.parameter("environment")] ?? 404
      guard status == 404 else { return Response(status: status) }
      return .json(
        ["errorCode": 4_040_010], status: 404)
    }
    router.on(.post, "/{environment}/inApps/v1/notifications/test", scope: nil) { _ in
      if let code = apple.refusal {
        return .json(["errorCode": code], status: Int(code / 10_000))
      }
      return .json(["testNotificationToken": "token"])
    }
    router.on(.get, "/{environment}/inApps/v1/notifications/test/{token}", scope: nil) { _ in
      guard let result = apple.result else { return .json(["errorCode": 4_040_008], status: 404) }
      struct Attempt: Encodable { let attemptDate: Int64, sendAttemptResult: String }
      struct Answer: Encodable { let signedPayload: String?, sendAttempts: [Attempt] }
      return .json(
        Answer(
          signedPayload: apple.signed,
          sendAttempts: [Attempt(attemptDate: 1, sendAttemptResult: result)]))
    }
    return router
  }

  private func examine(
    _ apple: Apple, _ apps: Apps, now: @escaping @Sendable () -> Int64 = { SystemClock().now() }
  ) async throws -> [Finding] {
    let server = try Server(
      port: 0, router: router(apple), log: .silent, metrics: Metrics())
    let running = Task { try await server.run() }
    let findings = await check(
      apps, "http://127.0.0.1:\(server.port)", now: now
    ).findings()
    await server.stop(by: .after(.seconds(5)))
    try await running.value
    return findings
  }

  private func check(
    _ apps: Apps, _ url: String, now: @escaping @Sendable () -> Int64 = { SystemClock().now() }
  ) async -> AppleCheck {
    let key = try? APIKey(
      issuerId: "57246542-96fe-1a63-e053-0824d011072a", keyId: "2X9R4HXF34",
      privateKey: try PrivateKey(generate: .p256))
    var reader = SettingsReader([
      "VERIFY_API_PRODUCTION_URL": "\(url)/production", "VERIFY_API_SANDBOX_URL": "\(url)/sandbox",
    ])
    let root = try? AppStoreChains.chain().root
    return AppleCheck(
      apps: apps, keys: key.map { [Self.app: $0] } ?? [:], roots: root.map { [$0] } ?? [],
      doctor: DoctorSettings(&reader, [:]), testsNotifications: true,
      patience: .milliseconds(700), now: now)
  }

  /// A test notification as Apple signs it.
  private func notification(bundle: String = app, appAppleId: Int64? = nil, environment: String)
    throws -> String
  {
    var payload = NotificationPayload()
    payload.notificationType = .test
    payload.notificationUUID = "002e14d5-51f5-4503-b5a8-c3a1af68eb20"
    payload.signedDate = AppStoreChains.now
    payload.data = NotificationData()
    payload.data?.bundleId = bundle
    payload.data?.appAppleId = appAppleId
    payload.data?.environment = AppEnvironment(rawValue: environment)
    return try AppStoreChains.chain().signer.sign(payload)
  }

  private func only(_ area: String, _ findings: [Finding]) throws -> Finding {
    try #require(findings.first { $0.area == area }, "\(findings)")
  }

  @Test func `what is right is told as right, part by part`() async throws {
    let findings = try await examine(
      Apple(signed: try notification(environment: "Sandbox")), try apps())
    #expect(findings.allSatisfy { $0.level == .good }, "\(findings)")
    #expect(Set(findings.map(\.area)) == ["clock", "access", "notifications"])
  }

  @Test(arguments: [(Int64(3600), "ahead"), (-3600, "behind")])
  func `a clock that is wrong is told with its direction`(seconds: Int64, word: String) async throws
  {
    let findings = try await examine(Apple(), try apps()) {
      SystemClock().now() + seconds * 1000
    }
    let clock = try only("clock", findings)
    #expect(clock.level == .fault && clock.what.contains(word), "\(clock)")
    #expect(clock.remedy?.contains("time service") == true)
  }

  @Test func `a server that cannot be reached is told apart from one that refuses`() async throws {
    let closed = await check(try apps(), "http://127.0.0.1:9").findings()
    #expect(try only("reachability", closed).level == .fault)
    #expect(try only("access", closed).remedy?.contains("port 443") == true)
    let refused = try await examine(Apple(access: ["sandbox": 401]), try apps())
    let access = try only("access", refused)
    #expect(access.level == .fault && access.remedy?.contains("In-App Purchase key") == true)
    #expect(!refused.contains { $0.area == "notifications" })
  }

  @Test func `each environment is looked at, and an unreleased app is no fault`() async throws {
    let both = try apps(["Production", "Sandbox"])
    let unreleased = try await examine(
      Apple(access: ["production": 401], signed: try notification(environment: "Sandbox")), both)
    let access = unreleased.filter { $0.area == "access" }
    #expect(access.map(\.level) == [.warning, .good], "\(unreleased)")
    #expect(access[0].what.contains("first release"))
    let wrong = try await examine(Apple(access: ["production": 401, "sandbox": 401]), both)
    #expect(wrong.filter { $0.area == "access" }.map(\.level) == [.fault, .fault])
    let half = try await examine(Apple(access: ["sandbox": 401]), both)
    #expect(half.filter { $0.area == "access" }.map(\.level) == [.good, .fault])
  }

  @Test(arguments: [
    ("TIMED_OUT", "within seconds"), ("TLS_ISSUE", "TLS 1.2"), ("CIRCULAR_REDIRECT", "redirects"),
    ("NO_RESPONSE", "17.0.0.0/8"), ("INVALID_RESPONSE", "something else answers"),
    ("UNSUCCESSFUL_HTTP_RESPONSE_CODE", "purser.json"), ("A_WORD_OF_TOMORROW", "log"),
  ])
  func `a test notification that failed is told with Apple's word and what to do`(
    result: String, words: String
  ) async throws {
    let finding = try only(
      "notifications", try await examine(Apple(result: result), try apps()))
    #expect(finding.level == .fault && finding.what.contains(result))
    #expect(finding.remedy?.contains(words) == true, "\(finding)")
  }

  @Test func `no URL, and a notification that nobody tried, are told`() async throws {
    let none = try only(
      "notifications", try await examine(Apple(refusal: 4_040_007), try apps()))
    #expect(none.level == .fault && none.what.contains("ServerNotificationURLNotFound"))
    let never = try only("notifications", try await examine(Apple(result: nil), try apps()))
    #expect(never.level == .warning && never.what.contains("has not tried"))
  }

  @Test(arguments: ["bundle", "app", "environment", "signature"])
  func `a notification of another app or signer shows wrong ids in the configuration`(
    wrong: String
  ) async throws {
    let isProduction = wrong == "app"
    var signed = try notification(
      bundle: wrong == "bundle" ? "com.example.other" : Self.app,
      appAppleId: isProduction ? 78 : nil,
      environment: wrong == "environment" || isProduction ? "Production" : "Sandbox")
    if wrong == "signature" { signed = signed.dropLast(10) + "AAAAAAAAAA" }
    let findings = try await examine(
      Apple(signed: signed), try apps([isProduction ? "Production" : "Sandbox"]))
    let finding = try only("notifications", findings)
    #expect(finding.level == .fault && finding.what.contains("refuses it"), "\(finding)")
    #expect(finding.remedy?.contains("appAppleId") == true)
  }
}
