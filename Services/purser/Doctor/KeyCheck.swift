import AppStore
import Catalog

/// The keys to Apple's API: readable, of the right kind, with ids of the right form.
struct KeyCheck {
  let apps: Apps
  /// The value of an environment variable.
  let variable: @Sendable (String) -> String?

  /// The keys that can be used, by bundle id, and what was found.
  func examine() -> ([String: APIKey], [Finding]) {
    var keys: [String: APIKey] = [:]
    var findings: [Finding] = []
    for app in apps.all {
      guard let access = app.api else {
        if app.environments.keys.contains(where: { $0 != "Xcode" }) {
          findings.append(
            .warning(
              "keys", app.bundleId,
              "has none: no back-fill, no proofs by id, no history, no consumption information",
              "make an In-App Purchase key in App Store Connect and name it under api"))
        }
        continue
      }
      guard let text = access.source.text(variable: variable) else {
        findings.append(
          .fault(
            "keys", app.bundleId, "\(access.source) cannot be read",
            "check the name, and that this user may read it"))
        continue
      }
      do {
        let key = try APIKey(issuerId: access.issuerId, keyId: access.keyId, pem: text)
        keys[app.bundleId] = key
        findings.append(.good("keys", app.bundleId, "\(key)"))
        findings += key.oddities.map {
          .warning("keys", app.bundleId, $0, "compare it with App Store Connect")
        }
      } catch {
        findings.append(
          .fault(
            "keys", app.bundleId, "\(error)",
            "take the .p8 file of an In-App Purchase key, not one of the App Store Connect API"))
      }
    }
    return (keys, findings)
  }
}
