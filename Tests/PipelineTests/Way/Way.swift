import FoundationEssentials
import Glibc
import HTTPClient
import Kafka
import Pipeline
import Processes
import ServiceRuntime
import Synchronization
import TestSupport

@testable import purser

/// The whole way as processes of one test: broker, simulator and the three services, each of which
/// can be stopped, killed and started again.
final class Way: Sendable {
  /// How long anything may take on a busy machine.
  static let patience = Duration.seconds(60)
  /// The three services, in the order in which they are started.
  static let services = ["order-service", "verify-service", "entitlement-service"]

  let broker: WayBroker
  let plan: StackPlan
  let folder: StackFolder
  let http: HTTPClient
  let journal: Journal
  /// Settings of a service beyond those of the plan, by its name.
  private let extra: [String: [String: String]]
  private let children = Mutex<[String: ChildProcess]>([:])
  /// How many shards there are, and where they stand.
  let layout = Mutex(ShardLayout.single)

  /// The stack of the running test.
  @TaskLocal static var current: Way?

  private init(
    _ broker: WayBroker, _ plan: StackPlan, _ folder: StackFolder, _ journal: Journal,
    extra: [String: [String: String]]
  ) {
    self.broker = broker
    self.plan = plan
    self.folder = folder
    self.journal = journal
    self.extra = extra
    var settings = ClientSettings()
    settings.waiting = 2_000
    http = HTTPClient(
      workers: 16, settings: settings, name: "test", log: .silent, metrics: Metrics())
  }

  /// Starts everything and waits until it is ready.
  ///
  /// - Parameters:
  ///   - extra: Settings of a service beyond the usual ones, by its name.
  ///   - asksApple: Whether verify-service has a key to the simulator's API.
  ///   - services: Which services to start.
  ///   - makeBroker: What they take for Kafka; blocks.
  static func start(
    extra: @escaping @Sendable (StackPlan) -> [String: [String: String]] = { _ in [:] },
    asksApple: Bool = false, services: [String] = services,
    on makeBroker: @escaping @Sendable () throws -> WayBroker = WayBroker.development
  ) async throws -> Way {
    let way = try await offPool {
      let broker = try makeBroker()
      let folder = try StackFolder.temporary(in: "/tmp")
      var plan = StackPlan(places: try .around(), folder: folder.path, ports: try .free())
      plan.asksApple = asksApple
      plan.kafka = ["BOOTSTRAP_SERVERS": broker.bootstrapServers]
      try Data(plan.configuration.utf8).write(to: URL(filePath: plan.file("purser.json")))
      try broker.makeTopics(of: plan)
      return Way(broker, plan, folder, try Journal(of: plan), extra: extra(plan))
    }
    try await way.launch("app-store-simulator")
    try await way.ready("app-store-simulator")
    for service in services { try await way.launch(service) }
    for service in services { try await way.ready(service) }
    return way
  }

  /// The program of a process by its name, with all of its settings.
  func program(_ name: String) throws -> ChildProcess.Program {
    let all = [plan.simulator] + plan.services.map(\.program)
    let (service, part) = ShardLayout.split(name)
    guard var program = all.first(where: { $0.name == service }) else {
      throw NotInTime(description: "no program \(name)")
    }
    program.environment.merge(broker.settings) { $1 }
    program.environment.merge(extra[service] ?? [:]) { $1 }
    if let part { layout.withLock { $0.adapt(&program, name, part, plan) } }
    return program
  }

  /// Starts a process, with more settings if there are any; returns when it is executed.
  func launch(_ name: String, with more: [String: String] = [:]) async throws {
    var started = try program(name)
    started.environment.merge(more) { $1 }
    let program = started
    let child = try await offPool { try ChildProcess(program) }
    children.withLock { $0[name] = child }
  }

  /// Waits until a process says that it is ready.
  func ready(_ name: String, within patience: Duration = Way.patience) async throws {
    let url = "\(address(of: name))/readyz"
    _ = try await eventually("\(name) is ready", within: patience) {
      if let ending = children.withLock({ $0[name] })?.ending.current {
        throw NotInTime(description: "\(name) ended with \(ending): \(lastLines(of: name))")
      }
      let answer = try? await http.send(HTTPRequest(url: url, timeout: .seconds(2)))
      return answer?.isSuccess == true ? true : nil
    }
  }

  /// Sends a signal and waits for the end.
  @discardableResult
  func end(_ name: String, by signal: Int32) async throws -> ChildProcess.Ending {
    guard let child = children.withLock({ $0[name] }) else {
      throw NotInTime(description: "\(name) does not run")
    }
    child.send(signal)
    return await child.ending.value()
  }

  /// The process of a name, running or ended.
  func child(_ name: String) -> ChildProcess? { children.withLock { $0[name] } }

  /// Takes a process that has ended as it should out of those that shall be running at the end.
  func forget(_ name: String) { children.withLock { $0[name] = nil } }

  /// Makes a process stand still, as a stopped virtual machine does.
  func freeze(_ name: String) { child(name)?.send(SIGSTOP) }

  /// Lets a frozen process go on.
  func thaw(_ name: String) { child(name)?.send(SIGCONT) }

  /// The address of a service, of any of its shards, or of the simulator.
  func address(of name: String) -> String { addresses(of: name)[0] }

  /// The addresses of a service's shards, or its only one.
  func addresses(of name: String) -> [String] {
    if let urls = layout.withLock({ $0.addresses(of: name) }) { return urls }
    return switch ShardLayout.split(name).service {
    case "order-service": [plan.orderURL]
    case "verify-service": [plan.verifyURL]
    case "entitlement-service": [plan.entitlementURL]
    default: [plan.simulatorURL]
    }
  }

  /// The end of a process's log.
  func lastLines(of name: String, _ count: Int = 15) -> String {
    LogTail.lines(of: plan.file("\(name).log"), count).joined(separator: "\n")
  }

  /// Stops everything, the broker last; says which process did not stop as it should, and which event is
  /// not what its schema promises.
  func stop(keepingFiles: Bool = false) async -> [String] {
    var complaints: [String] = []
    let running = children.withLock { $0.keys.filter { $0 != "app-store-simulator" } }
    for name in running.sorted().reversed() + ["app-store-simulator"] {
      guard let child = children.withLock({ $0.removeValue(forKey: name) }) else { continue }
      let began = ContinuousClock.now
      if child.ending.current == nil { child.send(SIGTERM) }
      let killer = Task {
        try await Task.sleep(for: .seconds(20))
        child.send(SIGKILL)
      }
      let ending = await child.ending.value()
      killer.cancel()
      let took = ContinuousClock.now - began
      if ending != .exit(0) || took >= .seconds(10) {
        complaints.append("\(name) ended with \(ending) in \(took): \(lastLines(of: name))")
      }
    }
    journal.close()
    complaints += await EventJudge.complaints(about: journal.events())
    await http.close(by: .after(.seconds(5)))
    broker.stop()
    if !keepingFiles { try? folder.remove() }
    return complaints
  }
}

extension StackPlan {
  /// Makes the topics as Purser needs them; blocks.
  func makeTopics(_ specifications: [TopicSpecification]? = nil) throws {
    let admin = try Admin(
      try ClientConfiguration(fromEnvironment: kafkaVariables), name: "test-admin", log: .silent,
      metrics: Metrics())
    defer { admin.closeAndWait() }
    try admin.create(
      specifications ?? TopicPlan(names: topics).specifications, timeout: .seconds(30))
  }
}
