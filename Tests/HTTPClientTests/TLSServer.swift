import FoundationEssentials
import Glibc
import Processes
import ServiceRuntime
import TestSupport

/// `openssl s_server` with a certificate of an authority of its own, both made for one test.
final class TLSServer: Sendable {
  struct Failure: Error, CustomStringConvertible { let description: String }

  let port: Int
  /// The authority that signed the server's certificate.
  let authority: [UInt8]
  private let process: ChildProcess

  init() async throws {
    let folder = TestFolder.path("tls")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let made = try await Script.run(
      "/usr/bin/openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
        "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-keyout", "\(folder)/key.pem", "-out", "\(folder)/cert.pem",
      ])
    guard made.code == 0 else { throw Failure(description: made.output) }
    authority = [UInt8](try Data(contentsOf: URL(filePath: "\(folder)/cert.pem")))
    let log = "\(folder)/log"
    // It ends with its standard input, which must therefore never end.
    let process = try ChildProcess(
      ChildProcess.Program(
        name: "s_server", executable: "/bin/sh",
        arguments: [
          "-c",
          "exec openssl s_server -www -accept 127.0.0.1:0 -key \(folder)/key.pem "
            + "-cert \(folder)/cert.pem </dev/zero",
        ], environment: ["PATH": "/usr/bin:/bin"], logFile: log))
    self.process = process
    let deadline = Deadline.after(.seconds(20))
    while true {
      let said = LogFile.bytes(log)
      if let port = Self.announcedPort(String(decoding: said, as: UTF8.self)) {
        self.port = port
        return
      }
      guard !deadline.hasPassed, process.ending.current == nil else {
        throw Failure(description: "no server: \(String(decoding: said, as: UTF8.self))")
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }

  deinit { process.send(SIGKILL) }

  /// Finds `ACCEPT 127.0.0.1:<port>`.
  private static func announcedPort(_ said: String) -> Int? {
    // The last line may not be whole yet.
    let lines = said.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    return lines.first { $0.hasPrefix("ACCEPT ") }
      .flatMap { $0.split(separator: ":").last.flatMap { Int($0) } }
  }
}
