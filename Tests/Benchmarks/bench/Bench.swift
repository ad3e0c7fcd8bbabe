import AppStore
import Cryptography
import Events
import FoundationEssentials
import Glibc
import Kafka
import Pipeline
import Processes
import ServiceRuntime

/// One group's surroundings: a folder, a broker, services; all of them are gone at its end.
///
/// Used by one thread.
final class Bench {
  let options: Options
  let folder: String
  let executables: String
  let repository: String
  let apiKey = "purser_" + Hex.encode(randomBytes(20))
  let topics = TopicNames()
  private(set) var children: [ChildProcess] = []
  private(set) var kafkaPort = 0

  init(_ name: String, _ options: Options) throws {
    self.options = options
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    executables = String(own[..<(own.lastIndex(of: "/") ?? own.endIndex)])
    var root = executables
    while !FileManager.default.fileExists(atPath: root + "/deploy/scripts/dev-broker") {
      guard let slash = root.lastIndex(of: "/") else {
        throw BenchError("no repository around \(own)")
      }
      root = String(root[..<slash])
    }
    repository = root
    // Beside the build, so that stores lie on a disk and not in a memory file system.
    folder = "\(root)/.build/bench/\(name)-\(Hex.encode(randomBytes(4)))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  /// Stops everything and removes the folder.
  func end() {
    for child in children.reversed() { _ = child.stop(by: .after(.seconds(12))) }
    children = []
    if options.keepsFolder {
      complain("bench: kept \(folder)")
    } else {
      try? FileManager.default.removeItem(atPath: folder)
    }
  }

  func file(_ name: String) -> String { "\(folder)/\(name)" }

  /// Starts a program of any kind.
  @discardableResult
  func start(
    _ name: String, _ executable: String, _ arguments: [String],
    _ environment: [String: String] = [:]
  )
    throws -> ChildProcess
  {
    let child = try ChildProcess(
      ChildProcess.Program(
        name: name, executable: executable, arguments: arguments,
        environment: environment.merging(["PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin"]) {
          own, _ in own
        },
        logFile: file("\(name).log")))
    children.append(child)
    return child
  }

  /// Runs a program to its end and gives what it wrote.
  func output(of name: String, _ executable: String, _ arguments: [String]) throws -> String {
    let child = try start(name, executable, arguments)
    let ending = child.ending.wait()
    children.removeAll { $0 === child }
    let text = try String(contentsOfFile: file("\(name).log"), encoding: .utf8)
    try FileManager.default.removeItem(atPath: file("\(name).log"))
    guard ending == .exit(0) else { throw BenchError("\(name) ended with \(ending): \(text)") }
    return text
  }

  func child(_ name: String) -> ChildProcess? { children.first { $0.program.name == name } }

  func stop(_ name: String) {
    guard let child = child(name) else { return }
    _ = child.stop(by: .after(.seconds(12)))
    children.removeAll { $0 === child }
  }

  /// Starts the development broker and makes all topics.
  func startBroker() throws {
    kafkaPort = try Self.freePort()
    try start(
      "broker", "\(repository)/deploy/scripts/dev-broker",
      ["run", "--data-dir", file("broker"), "--port", "\(kafkaPort)"])
    let admin = try Admin(kafka, name: "bench-admin", log: .silent, metrics: Metrics())
    defer { admin.closeAndWait() }
    let deadline = Deadline.after(.seconds(60))
    while !admin.isReachable(timeout: .milliseconds(200)) {
      guard !deadline.hasPassed else { throw BenchError("the broker does not answer") }
    }
    try admin.create(TopicPlan(names: topics).specifications, timeout: .seconds(20))
  }

  var kafka: ClientConfiguration { .bootstrap("127.0.0.1:\(kafkaPort)") }

  /// Writes `purser.json` that trusts a chain, and its root.
  func configure(_ apple: Apple) throws {
    try Data(apple.chain.rootDER).write(to: URL(filePath: file("root.der")))
    let text = """
      {"roots": ["root.der"], "catalog": "\(repository)/deploy/demo/catalog.json",
       "apps": [{"bundleId": "\(Apple.bundleID)", "environments": {"Sandbox": {}}}]}
      """
    try Data(text.utf8).write(to: URL(filePath: file("purser.json")))
  }

  /// Starts a service; returns its port and how long it took to become ready.
  @discardableResult
  func startService(_ name: String, _ arguments: [String] = [], within seconds: Int64 = 60) throws
    -> (port: Int, took: Double)
  {
    guard let word = name.split(separator: "-").first?.uppercased() else { return (0, 0) }
    let port = try Self.freePort()
    let began = ContinuousClock.now
    try start(
      name, "\(executables)/\(name)", arguments,
      settings(word, store: "\(name).sqlite").merging(["\(word)_HTTP_PORT": "\(port)"]) { $1 })
    try waitReady(port, "/readyz", name, within: seconds)
    return (port, (ContinuousClock.now - began).inSeconds)
  }

  /// Starts as many shards of a service as are asked for; returns their ports.
  @discardableResult
  func startShards(_ name: String) throws -> [Int] {
    let count = options.shards
    guard count > 1 else { return [try startService(name).port] }
    let word = (name.split(separator: "-").first ?? "").uppercased()
    let ports = try (0..<count).map { _ in try Self.freePort() }
    let peers = ports.map { "http://127.0.0.1:\($0)" }.joined(separator: ",")
    for (ordinal, port) in ports.enumerated() {
      let own = [
        "\(word)_HTTP_PORT": "\(port)", "PURSER_SHARD": "\(ordinal)",
        "PURSER_SHARD_COUNT": "\(count)", "PURSER_PEERS": peers,
      ]
      try start(
        "\(name)-\(ordinal)", "\(executables)/\(name)", [],
        settings(word, store: "\(name)-\(ordinal).sqlite").merging(own) { $1 })
    }
    for (ordinal, port) in ports.enumerated() {
      try waitReady(port, "/readyz", "\(name)-\(ordinal)")
    }
    return ports
  }

  /// The environment of a service whose variables begin with a word.
  func settings(_ word: String, store: String) -> [String: String] {
    [
      "\(word)_STORE": file(store), "PURSER_CONFIG": file("purser.json"),
      "PURSER_API_KEYS": "bench:admin:\(SHA256.hex(apiKey))",
      "PURSER_LOG_LEVEL": "warning", "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:\(kafkaPort)",
    ]
  }

  /// Waits until a path is answered with 200.
  func waitReady(_ port: Int, _ path: String, _ name: String, within seconds: Int64 = 60) throws {
    let deadline = Deadline.after(.seconds(seconds))
    while true {
      if let answer = try? LoadClient.ask(port: port, Request.get(path)), answer.status == 200 {
        return
      }
      guard !deadline.hasPassed, child(name)?.ending.current == nil else {
        let log = (try? String(contentsOfFile: file("\(name).log"), encoding: .utf8)) ?? ""
        throw BenchError("\(name) is not ready; its log ends with \(log.suffix(600))")
      }
      usleep(2000)
    }
  }

  /// A number of a service's `/metrics`, the sum over its labels.
  func metric(_ name: String, port: Int) throws -> Double {
    let text = try LoadClient.ask(port: port, Request.get("/metrics")).text
    return text.split(separator: "\n").filter { $0.hasPrefix(name) }.compactMap {
      $0.split(separator: " ").last.flatMap { Double($0) }
    }.reduce(0, +)
  }

  static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(descriptor, address, length) == 0
          && getsockname(descriptor, address, &length) == 0
      }
    }
    guard isBound else { throw BenchError("no free port (errno \(errno))") }
    return Int(in_port_t(bigEndian: address.sin_port))
  }
}
