import Processes
import Synchronization

@testable import purser

/// How many shards each service of a stack has, and where they stand.
///
/// A shard's process is called `order-service-1`; beside the shards of verify-service stands an edge,
/// `verify-service-edge`, on the port that Apple knows.
struct ShardLayout: Sendable {
  /// One process each.
  static let single = ShardLayout(count: 1, folder: nil, ports: [:])

  let count: Int
  /// Under the stack's folder; nil for the stores of a single process.
  let folder: String?
  /// By service, one for each shard.
  private let ports: [String: [Int]]

  private init(count: Int, folder: String?, ports: [String: [Int]]) {
    self.count = count
    self.folder = folder
    self.ports = ports
  }

  /// Shards on free ports, with their stores in a folder of the stack.
  init(count: Int, folder: String) throws {
    let free = try (0..<count).map { _ in try StackPorts.free() }
    self.init(
      count: count, folder: folder,
      ports: [
        Way.services[0]: free.map(\.order), Way.services[1]: free.map(\.verify),
        Way.services[2]: free.map(\.entitlement),
      ])
  }

  /// The service of a process, and which part of it the process is.
  static func split(_ name: String) -> (service: String, part: String?) {
    guard let service = Way.services.first(where: { name.hasPrefix("\($0)-") }) else {
      return (name, nil)
    }
    return (service, String(name.dropFirst(service.count + 1)))
  }

  /// The processes of a service.
  func processes(of service: String) -> [String] {
    guard folder != nil else { return [service] }
    return (0..<count).map { "\(service)-\($0)" }
  }

  /// All processes, in the order in which they are started.
  var all: [String] {
    Way.services.flatMap { processes(of: $0) } + (folder == nil ? [] : ["verify-service-edge"])
  }

  /// The folders of the stores, by shard.
  func folders(_ plan: StackPlan) -> [String] {
    guard let folder else { return [plan.folder] }
    return (0..<count).map { plan.file("\(folder)/\($0)") }
  }

  func store(of process: String, _ plan: StackPlan) -> String {
    let (service, part) = Self.split(process)
    let place = part.flatMap { Int($0) }.map { folders(plan)[$0] } ?? plan.folder
    return "\(place)/\(StoreLook.files[service] ?? "")"
  }

  /// Where a process is reached; a service of several shards at any of them, in any order.
  func addresses(of name: String) -> [String]? {
    let (service, part) = Self.split(name)
    guard let ports = ports[service] else { return nil }
    guard let part else { return ports.shuffled().map { "http://127.0.0.1:\($0)" } }
    return Int(part).map { ["http://127.0.0.1:\(ports[$0])"] }
  }

  /// Makes the program of a service the one of a part.
  func adapt(
    _ program: inout ChildProcess.Program, _ name: String, _ part: String, _ plan: StackPlan
  ) {
    let (service, _) = Self.split(name)
    let prefix = "\(service.split(separator: "-")[0].uppercased())"
    program.logFile = plan.file("\(name).log")
    program.environment["PURSER_SHARD_COUNT"] = "\(count)"
    guard let ordinal = Int(part), let ports = ports[service] else {
      program.arguments = ["--role", "edge"]
      return
    }
    if service == "verify-service" { program.arguments = ["--role", "ledger"] }
    program.environment["PURSER_SHARD"] = part
    program.environment["PURSER_PEERS"] =
      ports.map { "http://127.0.0.1:\($0)" }.joined(separator: ",")
    program.environment["\(prefix)_HTTP_PORT"] = "\(ports[ordinal])"
    program.environment["\(prefix)_STORE"] = store(of: name, plan)
  }
}

extension Way {
  var shardCount: Int { layout.withLock { $0.count } }
}
