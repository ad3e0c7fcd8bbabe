import FoundationEssentials
import Glibc

/// `openssl s_server` with a certificate of an authority of its own, both made for one test.
final class TLSServer {
  let port: Int
  /// The authority that signed the server's certificate.
  let authority: [UInt8]
  private let process: pid_t
  private let folder: String

  init?() {
    var template = Array("/tmp/purser-tls-XXXXXX".utf8CString)
    guard unsafe mkdtemp(&template) != nil else { return nil }
    let folder = String(
      decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    self.folder = folder
    let made = Self.run(
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
        "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
        "-keyout", "\(folder)/key.pem", "-out", "\(folder)/cert.pem",
      ], output: nil)
    guard let made, Self.succeeded(made),
      let authority = try? Data(contentsOf: URL(filePath: "\(folder)/cert.pem"))
    else { return nil }
    self.authority = Array(authority)
    var ends: [Int32] = [0, 0]
    guard unsafe pipe(&ends) == 0 else { return nil }
    let server = Self.run(
      [
        "s_server", "-www", "-accept", "127.0.0.1:0", "-key", "\(folder)/key.pem", "-cert",
        "\(folder)/cert.pem",
      ], output: ends[1])
    close(ends[1])
    defer { close(ends[0]) }
    guard let server else { return nil }
    process = server
    guard let port = Self.announcedPort(ends[0]) else { return nil }
    self.port = port
  }

  deinit {
    kill(process, SIGKILL)
    _ = Self.succeeded(process)
    for name in ["key.pem", "cert.pem"] { unsafe unlink("\(folder)/\(name)") }
    unsafe rmdir(folder)
  }

  /// Starts openssl; standard output goes to a descriptor, or nowhere.
  private static func run(_ arguments: [String], output: Int32?) -> pid_t? {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/zero", O_RDONLY, 0)
    unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    if let output {
      unsafe posix_spawn_file_actions_adddup2(&actions, output, 1)
    } else {
      unsafe posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
    }
    let words = unsafe (["openssl"] + arguments).map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var process = pid_t()
    let result = unsafe posix_spawnp(&process, "openssl", &actions, nil, words, environ)
    return result == 0 ? process : nil
  }

  private static func succeeded(_ process: pid_t) -> Bool {
    var status: Int32 = 0
    return unsafe waitpid(process, &status, 0) == process && status == 0
  }

  /// Reads `ACCEPT 127.0.0.1:<port>`.
  private static func announcedPort(_ descriptor: Int32) -> Int? {
    var text: [UInt8] = []
    var byte: UInt8 = 0
    while unsafe read(descriptor, &byte, 1) == 1 {
      if byte != 0x0A {
        text.append(byte)
        continue
      }
      let line = String(decoding: text, as: UTF8.self)
      if line.hasPrefix("ACCEPT "), let colon = line.lastIndex(of: ":") {
        return Int(line[line.index(after: colon)...])
      }
      text = []
    }
    return nil
  }
}
