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
}
