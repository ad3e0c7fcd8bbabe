import AppStore
import Catalog
import Cryptography
import HTTPClient
import ServiceRuntime

/// Apple's API and notifications, for each app and environment that has a key.
struct AppleCheck: Sendable {
  let apps: Apps
  let keys: [String: APIKey]
  let roots: [Certificate]
  let doctor: DoctorSettings
  let testsNotifications: Bool
  /// Apple sends a test notification within seconds.
  var patience = Duration.seconds(30)
  /// This machine's time, UTC milliseconds.
  var now: @Sendable () -> Int64 = { SystemClock().now() }

  func findings() async -> [Finding] {
    let client = HTTPClient(workers: 2, name: "doctor", log: .silent, metrics: Metrics())
    var findings: [Finding] = []
    do {
      var context = APIContext(
        bases: try APIBases([
          .production: doctor.productionURL, .sandbox: doctor.sandboxURL,
        ]), timing: APITiming { SystemClock().now() }, client: client)
      context.timeout = .seconds(15)
      findings += await clock(client)
      for app in apps.all {
        guard let key = keys[app.bundleId] else { continue }
        var access: [Access] = []
        for environment in [AppEnvironment.production, .sandbox]
        where app.environments[environment.rawValue] != nil {
          access.append(await examine(app, key, environment, context))
        }
        findings += Self.findings(of: access)
      }
    } catch {
      findings.append(
        .fault("Apple", "", "\(error)", "correct VERIFY_API_PRODUCTION_URL or …_SANDBOX_URL"))
    }
    await client.close(by: .after(.seconds(2)))
    return findings
  }

  private func clock(_ client: HTTPClient) async -> [Finding] {
    let served = Set(apps.all.flatMap(\.environments.keys))
    let url = served.contains("Production") ? doctor.productionURL : doctor.sandboxURL
    do {
      let response = try await client.send(HTTPRequest(url: url, timeout: .seconds(15)))
      guard let date = response.header("Date").flatMap({ ServerDate.milliseconds($0) }) else {
        return [
          .warning(
            "clock", url, "the answer bears no date",
            "compare the clock by other means; tokens and timers hang on it")
        ]
      }
      let skew = (now() - date) / 1000
      guard abs(skew) > 30 else { return [.good("clock", url, "within \(max(1, abs(skew))) s")] }
      return [
        .fault(
          "clock", url, "this machine is \(abs(skew)) s \(skew > 0 ? "ahead" : "behind")",
          "let a time service set it: Apple refuses tokens of another time, and rights end by it")
      ]
    } catch {
      return [
        .fault(
          "reachability", url, "\(error)",
          "check the name service, the firewall and the proxy: port 443 must be open")
      ]
    }
  }

  private func examine(
    _ app: App, _ key: APIKey, _ environment: AppEnvironment, _ context: APIContext
  ) async -> Access {
    let subject = "\(app.bundleId) \(environment.rawValue)"
    let api: AppStoreServerAPI
    do {
      api = try AppStoreServerAPI(
        bundleId: app.bundleId, environment: environment, key: key, context: context)
      try await api.checkAccess()
    } catch {
      return Access(
        environment: environment, subject: subject, failure: error,
        findings: [.fault("access", subject, "\(error)", error.advice)])
    }
    var findings: [Finding] = [.good("access", subject, "Apple accepts the key")]
    if testsNotifications { findings.append(await notification(app, api, subject)) }
    return Access(
      environment: environment, subject: subject, failure: nil, findings: findings)
  }

  /// What was found of an app in one environment.
  private struct Access {
    let environment: AppEnvironment
    let subject: String
    /// Why Apple did not take the key.
    let failure: APIError?
    let findings: [Finding]
  }

  /// A key that the sandbox takes and Production does not is a good key: Production knows no app that
  /// was never released.
  private static func findings(of access: [Access]) -> [Finding] {
    let isKeyGood = access.contains { $0.environment == .sandbox && $0.failure == nil }
    return access.flatMap { one -> [Finding] in
      guard isKeyGood, one.environment == .production, one.failure?.kind == .unauthorized else {
        return one.findings
      }
      return [
        .warning(
          "access", one.subject,
          "Apple refuses the key here and takes it in the sandbox: so it is until an app's first "
            + "release",
          "nothing, if the app was never released; purchases of App Review are found in the sandbox "
            + "all the same")
      ]
    }
  }

  private func notification(
    _ app: App, _ api: AppStoreServerAPI, _ subject: String
  ) async -> Finding {
    let area = "notifications"
    let token: String
    switch await begun(api) {
    case .success(let answer): token = answer.testNotificationToken
    case .failure(let error): return .fault(area, subject, "\(error)", error.advice)
    }
    switch await outcome(token, api, area, subject) {
    case .delivered(let payload): return identity(of: payload, app, api.environment, subject)
    case .fault(let finding): return finding
    case .notYet:
      return .warning(
        area, subject, "Apple has not tried the test notification within \(patience)",
        "ask again later: purser doctor")
    }
  }

  private func outcome(
    _ token: String, _ api: AppStoreServerAPI, _ area: String, _ subject: String
  ) async -> Attempt {
    let deadline = Deadline.after(patience)
    var last = await attempt(token, api, area, subject)
    while last.isOpen && !deadline.hasPassed {
      try? await Task.sleep(for: .milliseconds(500))
      last = await attempt(token, api, area, subject)
    }
    return last
  }

  /// What Apple says of the test notification so far.
  private enum Attempt {
    case delivered(String?)
    case notYet
    case fault(Finding)

    var isOpen: Bool {
      if case .notYet = self { true } else { false }
    }
  }

  private func attempt(
    _ token: String, _ api: AppStoreServerAPI, _ area: String, _ subject: String
  ) async -> Attempt {
    switch await status(token, api) {
    case .success(let answer): return standing(of: answer, area, subject)
    case .failure(let error):
      return error.code == .testNotificationNotFound
        ? .notYet : .fault(.fault(area, subject, "\(error)", error.advice))
    }
  }

  // Each question in a function of its own: the optimizer of Swift 6.3.1 crashes on a typed throw that
  // is caught in an async function where other things go on.
  @inline(never)
  private func begun(
    _ api: AppStoreServerAPI
  ) async -> Result<TestNotificationAnswer, APIError> {
    do {
      return .success(try await api.answer(to: .testNotification()))
    } catch {
      return .failure(error)
    }
  }

  @inline(never)
  private func status(
    _ token: String, _ api: AppStoreServerAPI
  ) async -> Result<TestNotificationStatusAnswer, APIError> {
    do {
      return .success(try await api.answer(to: .testNotificationStatus(token)))
    } catch {
      return .failure(error)
    }
  }

  private func standing(
    of answer: TestNotificationStatusAnswer, _ area: String, _ subject: String
  ) -> Attempt {
    guard let last = answer.sendAttempts.last else { return .notYet }
    guard answer.sendAttempts.contains(where: { $0.sendAttemptResult == .success }) else {
      let result = last.sendAttemptResult?.rawValue ?? "no result"
      return .fault(
        .fault(
          area, subject, "Apple could not deliver the test notification: \(result)",
          NotificationAdvice.remedy(result)))
    }
    return .delivered(answer.signedPayload)
  }

  /// Whether what arrived would be accepted: signature, bundle id, app id, environment.
  private func identity(
    of signed: String?, _ app: App, _ environment: AppEnvironment, _ subject: String
  ) -> Finding {
    guard let signed else {
      return .good("notifications", subject, "the test notification arrived")
    }
    do {
      let verifier = try SignedDataVerifier(
        roots: roots,
        apps: [
          AppIdentity(
            bundleId: app.bundleId, appAppleId: app.appAppleId, environments: [environment])
        ]
      ) { SystemClock().now() }
      _ = try verifier.verifyNotification(signed)
      return .good(
        "notifications", subject, "the test notification arrived, and its signature and ids stand")
    } catch {
      return .fault(
        "notifications", subject,
        "the test notification arrived, but this configuration refuses it: \(error)",
        "compare roots, bundleId, appAppleId and environments in purser.json with App Store Connect"
      )
    }
  }
}

/// What to do about a notification that did not arrive, by Apple's word.
enum NotificationAdvice {
  static func remedy(_ result: String) -> String {
    switch result {
    case "TIMED_OUT":
      "the URL must answer within seconds; look at the proxy and at verify-service's metrics"
    case "TLS_ISSUE", "SSL_ISSUE":
      "the certificate must be valid for the name, complete with its chain, TLS 1.2 or newer"
    case "CIRCULAR_REDIRECT": "the URL must answer itself, without redirects"
    case "NO_RESPONSE", "SOCKET_ISSUE", "PREMATURE_CLOSE":
      "nothing answers there: check the URL in App Store Connect, the firewall (17.0.0.0/8 must pass) "
        + "and that verify-service runs"
    case "UNSUPPORTED_CHARSET", "INVALID_RESPONSE":
      "something else answers in verify-service's place; check the URL and the proxy"
    case "UNSUCCESSFUL_HTTP_RESPONSE_CODE":
      "verify-service or the proxy refuses it; its log says why: the app or environment may be "
        + "missing in purser.json, or the broker may be away"
    default: "look at verify-service's log and the proxy's"
    }
  }
}
