import Cryptography

/// Finds the configured app of a payload whose signature stands, and checks the environment.
struct IdentityCheck {
  let apps: [AppIdentity]
  let signer: Signer

  /// The app of an object that names its bundle id.
  func app(
    bundleId: String?, appAppleId: Int64?, checksAppAppleId: Bool, environment: AppEnvironment?,
    expectedBundle: String?
  ) throws(Rejection) -> AppIdentity {
    guard let bundleId else { throw .genuine(.wrongApp, "the payload names no bundle id") }
    guard expectedBundle == nil || expectedBundle == bundleId else {
      throw .genuine(.wrongApp, "bundle id \(bundleId) is not the expected \(expectedBundle ?? "")")
    }
    guard let app = apps.first(where: { $0.bundleId == bundleId }), mayVouch(for: app) else {
      throw .genuine(.wrongApp, "bundle id \(bundleId) is not configured")
    }
    // Sandbox sends no app id, so it counts only where Production is at stake.
    let isProduction = environment == .production || app.environments == [.production]
    if checksAppAppleId, isProduction, appAppleId != app.appAppleId {
      throw .genuine(.wrongApp, "appAppleId is not the one configured for \(bundleId)")
    }
    _ = try accepted(environment, by: [app])
    return app
  }

  /// The app of renewal info, which names none: the expected one, or the only one that can be.
  func app(
    expectedBundle: String?, environment: AppEnvironment?
  ) throws(Rejection) -> AppIdentity? {
    let candidates = apps.filter {
      (expectedBundle == nil || $0.bundleId == expectedBundle) && mayVouch(for: $0)
    }
    guard !candidates.isEmpty else {
      throw .genuine(.wrongApp, "bundle id \(expectedBundle ?? "") is not configured")
    }
    let accepting = try accepted(environment, by: candidates)
    return accepting.count == 1 ? accepting.first : nil
  }

  /// The app of a real-time request, which names only the app's number.
  func app(
    appAppleId: Int64?, environment: AppEnvironment?
  ) throws(Rejection) -> AppIdentity? {
    let known = apps.filter { appAppleId != nil && $0.appAppleId == appAppleId }
    if known.isEmpty, environment == .production {
      throw .genuine(.wrongApp, "appAppleId is not configured")
    }
    let accepting = try accepted(environment, by: known.isEmpty ? apps : known)
    return accepting.count == 1 ? accepting.first : nil
  }

  /// The apps that accept the environment; a signature by Xcode stands for no other than Xcode.
  private func accepted(
    _ environment: AppEnvironment?, by candidates: [AppIdentity]
  ) throws(Rejection) -> [AppIdentity] {
    guard let environment else {
      throw .genuine(.wrongEnvironment, "the payload names no environment")
    }
    guard (environment == .xcode) == (signer != .appStore) else {
      throw .genuine(.wrongEnvironment, "environment \(environment) does not fit the signer")
    }
    let accepting = candidates.filter { $0.environments.contains(environment) }
    guard !accepting.isEmpty else {
      throw .genuine(.wrongEnvironment, "environment \(environment) is not configured")
    }
    return accepting
  }

  /// Xcode's certificate speaks only for the app that it was configured for.
  private func mayVouch(for app: AppIdentity) -> Bool {
    switch signer {
    case .appStore: true
    case .xcode(let hash): app.xcodeCertificates.contains { $0.sha256Fingerprint == hash }
    }
  }
}
