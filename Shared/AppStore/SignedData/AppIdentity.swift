public import Cryptography

/// One app whose signed data is accepted, and from where.
public struct AppIdentity: Sendable, Equatable {
  /// The bundle id.
  public let bundleId: String
  /// The app's number in the App Store; needed with Production.
  public let appAppleId: Int64?
  /// The environments that are accepted; never taken from a payload.
  public let environments: Set<AppEnvironment>
  /// Certificates exported from Xcode (Editor > Save Public Certificate), for environment Xcode.
  public let xcodeCertificates: [Certificate]

  /// Describes an app.
  public init(
    bundleId: String, appAppleId: Int64? = nil, environments: Set<AppEnvironment>,
    xcodeCertificates: [Certificate] = []
  ) {
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environments = environments
    self.xcodeCertificates = xcodeCertificates
  }

  /// What is wrong with it, one sentence each.
  var faults: [String] {
    var faults: [String] = []
    if bundleId.isEmpty { faults.append("an app has no bundle id") }
    if environments.isEmpty { faults.append("app \(bundleId) accepts no environment") }
    if environments.contains(.production), appAppleId == nil {
      faults.append("app \(bundleId) accepts Production and so needs its appAppleId")
    }
    if environments.contains(.production), environments.contains(.xcode) {
      faults.append("app \(bundleId) accepts Production and so must not accept Xcode")
    }
    if environments.contains(.production), environments.contains(.localTesting) {
      faults.append("app \(bundleId) accepts Production and so must not accept LocalTesting")
    }
    if environments.contains(.xcode), xcodeCertificates.isEmpty {
      faults.append("app \(bundleId) accepts Xcode and so needs a certificate exported from Xcode")
    }
    if !environments.contains(.xcode), !xcodeCertificates.isEmpty {
      faults.append("app \(bundleId) has a certificate of Xcode, but does not accept Xcode")
    }
    return faults
  }
}

/// A verifier that must not be built; every fault is named at once.
public struct VerifierConfigurationFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// One sentence each.
  public let faults: [String]
  /// All faults.
  public var description: String { faults.joined(separator: "; ") }

  /// What is wrong with apps and roots for whatever they verify.
  ///
  /// - Parameters:
  ///   - noRoot: What to say when there is no root.
  ///   - appleRoot: The fingerprint of Apple's own root, beside which no other may be trusted.
  static func faults(
    apps: [AppIdentity], roots: [Certificate], noRoot: String, appleRoot: String
  ) -> [String] {
    var faults = apps.flatMap(\.faults)
    if roots.isEmpty { faults.append(noRoot) }
    if apps.isEmpty { faults.append("no app is configured") }
    if Set(apps.map(\.bundleId)).count < apps.count {
      faults.append("a bundle id is configured twice")
    }
    if roots.contains(where: { $0.sha256Fingerprint == appleRoot }),
      let foreign = roots.first(where: { !$0.subject.contains("O=Apple Inc.") })
    {
      faults.append(
        "Apple's root and the foreign root \(foreign.subject) must not be trusted together")
    }
    return faults
  }
}
