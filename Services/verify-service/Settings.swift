import AppStore
import Catalog
import Cryptography
import FoundationEssentials
import HTTPServer
import Kafka
import Pipeline
import ServiceRuntime

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
  let pipeline: PipelineSettings
  let apps: Apps
  let roots: [Certificate]
  let xcodeCertificates: [String: Certificate]
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
    pipeline = PipelineSettings(&reader, prefix: "VERIFY", store: "verify.sqlite")
    linkWait = .milliseconds(
      reader.integer(
        "VERIFY_LINK_WAIT_MS", default: 3000, in: 0...60_000,
        "how long a fact waits for its token to become known, in milliseconds"))

    var roots: [Certificate] = []
    var xcode: [String: Certificate] = [:]
    do {
      apps = try Apps.load(path: path)
      for file in apps.roots {
        Settings.certificate(file, &reader).map { roots.append($0) }
      }
      for app in apps.all {
        guard let file = app.xcodeCertificate else { continue }
        xcode[app.bundleId] = Settings.certificate(file, &reader)
      }
      pipeline.refuseShiftedClock(servesProduction: apps.servesProduction, &reader)
    } catch {
      apps = Apps(all: [], roots: [])
      reader.fault("PURSER_CONFIG", "cannot be used:\n\(error)")
    }
    self.roots = roots
    xcodeCertificates = xcode
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
