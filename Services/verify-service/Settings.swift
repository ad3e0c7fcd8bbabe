import Access
import AppStore
import Catalog
import Cryptography
import FoundationEssentials
import Kafka
import Pipeline
import ServiceRuntime
import Tracing

/// Which part of the service a process is.
enum Role: String, CaseIterable, Sendable {
  /// Edge, intake and ledger in one process.
  case all
  /// Only receives notifications; has no store, and may stand in any number.
  case edge
  /// Only proves proofs and keeps lineages.
  case ledger

  var hasEdge: Bool { self != .ledger }
  var hasLedger: Bool { self != .edge }
}

/// Everything that verify-service is told from outside.
struct Settings: Sendable {
  static var environment: [String: String] { ProcessInfo.processInfo.environment }

  let role: Role
  let http: HTTPSettings
  let traces: TraceSettings
  let pipeline: PipelineSettings
  let apps: Apps
  let roots: [Certificate]
  let xcodeCertificates: [String: Certificate]
  /// The key to Apple's API of each app that has one, by bundle id.
  let apiKeys: [String: APIKey]
  /// The shared secret for `verifyReceipt` of each app that has one, by bundle id.
  let sharedSecrets: [String: SharedSecret]
  let apple: AppleAddresses
  let appleTimes: AppleTimes
  let linkWait: Duration

  init(_ reader: inout SettingsReader, options: [String: String]) {
    let word = options["--role"] ?? "all"
    role = Role(rawValue: word) ?? .all
    if Role(rawValue: word) == nil {
      reader.fault("--role", "is '\(word)'; give one of all, edge, ledger")
    }
    let path = reader.text(
      "PURSER_CONFIG", default: "purser.json", "the file of apps, environments and policies")
    http = HTTPSettings(&reader, prefix: "VERIFY", port: 8082)
    traces = TraceSettings(&reader)
    pipeline = PipelineSettings(
      &reader, prefix: "VERIFY", store: "verify.sqlite", isSharded: role.hasLedger)
    linkWait = .milliseconds(
      reader.integer(
        "VERIFY_LINK_WAIT_MS", default: 3000, in: 0...60_000,
        "how long a fact waits for its token to become known, in milliseconds"))
    apple = AppleAddresses(&reader)
    appleTimes = AppleTimes(&reader)

    var roots: [Certificate] = []
    var keys: [String: APIKey] = [:]
    var secrets: [String: SharedSecret] = [:]
    var xcode: [String: Certificate] = [:]
    do {
      apps = try Apps.load(path: path)
      for file in apps.roots {
        Settings.certificate(file, &reader).map { roots.append($0) }
      }
      for app in apps.all {
        xcode[app.bundleId] = app.xcodeCertificate.flatMap { Settings.certificate($0, &reader) }
        keys[app.bundleId] = app.api.flatMap { Settings.key($0, &reader) }
        secrets[app.bundleId] = app.sharedSecretFile.flatMap { Settings.sharedSecret($0, &reader) }
      }
      pipeline.refuseShiftedClock(servesProduction: apps.servesProduction, &reader)
    } catch {
      apps = Apps(all: [], roots: [])
      reader.fault("PURSER_CONFIG", "cannot be used:\n\(error)")
    }
    self.roots = roots
    xcodeCertificates = xcode
    apiKeys = keys
    sharedSecrets = secrets
  }

  /// Reads an In-App Purchase key; a fault names the place and nothing of the key.
  private static func key(_ access: APIAccess, _ reader: inout SettingsReader) -> APIKey? {
    guard let text = access.source.text(variable: { environment[$0] }) else {
      reader.fault("PURSER_CONFIG", "names an API key in \(access.source) that cannot be read")
      return nil
    }
    do {
      return try APIKey(issuerId: access.issuerId, keyId: access.keyId, pem: text)
    } catch {
      reader.fault("PURSER_CONFIG", "names an API key in \(access.source): \(error)")
      return nil
    }
  }

  private static func sharedSecret(_ path: String, _ reader: inout SettingsReader) -> SharedSecret?
  {
    guard let secret = text(of: path).flatMap({ SharedSecret($0) }) else {
      reader.fault(
        "PURSER_CONFIG", "names the shared secret '\(path)', which cannot be read or is empty")
      return nil
    }
    return secret
  }

  private static func text(of path: String) -> String? {
    (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Reads a certificate in DER or PEM; a fault names the file.
  private static func certificate(_ file: String, _ reader: inout SettingsReader) -> Certificate? {
    guard let data = try? Data(contentsOf: URL(filePath: file)) else {
      reader.fault("PURSER_CONFIG", "names the certificate '\(file)', which cannot be read")
      return nil
    }
    do {
      return try Certificate(bytes: [UInt8](data), name: file)
    } catch {
      reader.fault("PURSER_CONFIG", "names the certificate '\(file)': \(error)")
      return nil
    }
  }
}

/// Where Apple's servers stand; a simulator's addresses in their place are for development.
struct AppleAddresses: Sendable {
  /// The App Store Server API.
  let api: APIBases
  /// `verifyReceipt` for Production.
  let receiptProduction: String
  /// `verifyReceipt` for the sandbox.
  let receiptSandbox: String

  init(_ reader: inout SettingsReader) {
    let production = reader.text(
      "VERIFY_API_PRODUCTION_URL", default: "https://api.storekit.apple.com",
      "the App Store Server API for Production")
    let sandbox = reader.text(
      "VERIFY_API_SANDBOX_URL", default: "https://api.storekit-sandbox.apple.com",
      "the App Store Server API for the sandbox")
    do {
      api = try APIBases([.production: production, .sandbox: sandbox])
    } catch {
      api = .apple
      reader.fault("VERIFY_API_…_URL", "cannot be used: \(error)")
    }
    receiptProduction = reader.text(
      "VERIFY_RECEIPT_PRODUCTION_URL", default: "https://buy.itunes.apple.com/verifyReceipt",
      "verifyReceipt for Production")
    receiptSandbox = reader.text(
      "VERIFY_RECEIPT_SANDBOX_URL", default: "https://sandbox.itunes.apple.com/verifyReceipt",
      "verifyReceipt for the sandbox")
  }
}
