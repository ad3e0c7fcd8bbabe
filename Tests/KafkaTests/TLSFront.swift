import FoundationEssentials
import Glibc
import Processes
import ServiceRuntime
import TestSupport

/// An authority of a test's own, and the development broker behind TLS with certificates of it.
///
/// The folder with the keys goes with the object.
final class TLSFront: Sendable {
  /// What went wrong while it was made.
  struct Failure: Error, CustomStringConvertible { let description: String }

  private let folder: String
  private let process: ChildProcess
  /// Where clients find the broker: `localhost` and a port.
  let address: String

  /// The certificate of the authority.
  var authority: String { "\(folder)/authority.pem" }
  /// The certificate of a client by the authority, with its key beside it.
  var clientCertificate: String { "\(folder)/client.pem" }
  var clientKey: String { "\(folder)/client.key" }

  /// Makes certificates and starts the front.
  ///
  /// - Parameters:
  ///   - broker: The broker as host:port.
  ///   - host: The name in the broker's certificate.
  ///   - wantsCertificates: Whether clients must show one of the authority.
  ///   - user: The only one who is let in, as name:password.
  init(
    of broker: String, host: String = "localhost", wantsCertificates: Bool = false,
    user: String? = nil
  ) async throws {
    folder = TestFolder.path("tls")
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try await Self.certify("authority", in: folder, ["-subj", "/CN=authority of a test"])
    for (name, subject) in [("broker", host), ("client", "purser")] {
      try await Self.certify(
        name, in: folder,
        [
          "-subj", "/CN=\(subject)", "-addext", "subjectAltName=DNS:\(subject)",
          "-CA", "\(folder)/authority.pem", "-CAkey", "\(folder)/authority.key",
        ])
    }
    var arguments = [
      "\(TestData.packageRoot)/deploy/scripts/dev-broker-tls", "--broker", broker, "--port", "0",
      "--certificate", "\(folder)/broker.pem", "--key", "\(folder)/broker.key",
    ]
    if wantsCertificates { arguments += ["--clients", "\(folder)/authority.pem"] }
    if let user { arguments += ["--user", user] }
    let front = try ChildProcess(
      ChildProcess.Program(
        name: "dev-broker-tls", executable: Script.python, arguments: arguments,
        environment: ["PATH": "/usr/bin:/bin"], logFile: "\(folder)/log"))
    process = front
    let deadline = Deadline.after(.seconds(20))
    var said = ""
    while Int(said) == nil {
      guard !deadline.hasPassed, front.ending.current == nil else {
        throw Failure(description: "no front: \(said)")
      }
      try await Task.sleep(for: .milliseconds(10))
      let log = LogFile.bytes("\(folder)/log")
      said = String(decoding: log.prefix { $0 != 0x0A }, as: UTF8.self)
    }
    address = "localhost:\(said)"
  }

  deinit {
    process.send(SIGKILL)
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// Makes a key and a certificate, signed by itself unless the options name an authority.
  private static func certify(_ name: String, in folder: String, _ options: [String]) async throws {
    let made = try await Script.run(
      "/usr/bin/openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-days", "2", "-keyout", "\(folder)/\(name).key", "-out", "\(folder)/\(name).pem",
      ] + options)
    guard made.code == 0 else { throw Failure(description: made.output) }
  }
}
