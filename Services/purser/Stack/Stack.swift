import FoundationEssentials
import Glibc
import HTTPClient
import Kafka
import Pipeline
import Processes
import ServiceRuntime

/// Broker, simulator and the three services as processes of ours, from start to stop.
///
/// Used from one thread of ours; its calls block.
final class Stack {
  let plan: StackPlan
  private let terminal: Terminal
  private let isInterrupted: @Sendable () -> Bool
  private let http: HTTPClient
  /// In the order of starting.
  private var children: [ChildProcess] = []
  /// The names of those that were ready once, and so hear SIGTERM as they should.
  private var ready: Set<String> = []

  /// Makes a stack that is not started.
  ///
  /// - Parameter isInterrupted: Asked while waiting; true gives up.
  init(
    _ plan: StackPlan, terminal: Terminal, http: HTTPClient,
    isInterrupted: @escaping @Sendable () -> Bool
  ) {
    self.plan = plan
    self.terminal = terminal
    self.http = http
    self.isInterrupted = isInterrupted
  }

  /// Starts everything and waits until all of it is ready.
  ///
  /// - Throws: Why not. What was started still runs then: call `stop`.
  func start() throws {
    let deadline = Deadline.after(plan.patience)
    try plan.ports.check(needsBroker: plan.kafka == nil)
    try FileManager.default.createDirectory(
      atPath: plan.folder, withIntermediateDirectories: true)
    try Data(plan.configuration.utf8).write(to: URL(filePath: plan.file("purser.json")))
    if plan.kafka == nil { try startBroker(by: deadline) }
    try makeTopics(by: deadline)
    // The services read the simulator's root certificate when they start.
    let simulator = try child(plan.simulator)
    try awaitReady(simulator, "\(plan.simulatorURL)/healthz", by: deadline)
    let services = try plan.services.map { (try child($0.program), $0.url) }
    for (service, url) in services { try awaitReady(service, "\(url)/readyz", by: deadline) }
  }

  private func child(_ program: ChildProcess.Program) throws -> ChildProcess {
    let child = try ChildProcess(program)
    children.append(child)
    return child
  }

  private func startBroker(by deadline: Deadline) throws {
    let began = ContinuousClock.now
    let broker = try child(plan.broker)
    let admin = try admin()
    defer { admin.closeAndWait() }
    try wait(for: broker, by: deadline) {
      admin.isReachable(timeout: .milliseconds(200)) ? nil : "it does not answer"
    }
    report(broker.program.name, "127.0.0.1:\(plan.ports.kafka)", since: began)
  }

  private func makeTopics(by deadline: Deadline) throws {
    let admin = try admin()
    defer { admin.closeAndWait() }
    let report = try TopicReport(TopicPlan(names: plan.topics), admin, anyPartitions: true)
    guard report.differences.isEmpty else {
      throw TopicDifferences(report.differences, advice: "nothing was started")
    }
    try admin.create(report.missing, timeout: deadline.remaining)
    if !report.missing.isEmpty {
      terminal.line("  made \(report.missing.count) topics, \(plan.topicPrefix)…")
    }
  }

  private func admin() throws -> Admin {
    try Admin(
      try ClientConfiguration(fromEnvironment: plan.kafkaVariables), name: "purser-stack",
      log: .silent, metrics: Metrics())
  }

  private func awaitReady(_ child: ChildProcess, _ url: String, by deadline: Deadline) throws {
    let began = ContinuousClock.now
    try wait(for: child, by: deadline) {
      let request = HTTPRequest(url: url, timeout: .seconds(2))
      do throws(HTTPClientError) {
        let answer = try http.sendAndWait(request)
        if answer.isSuccess { return nil }
        let body = printable(String(decoding: answer.body.prefix(500), as: UTF8.self))
        return "\(url) says \(answer.status) \(body)"
      } catch {
        return "\(error)"
      }
    }
    let address = url.split(separator: "/")[1]
    report(child.program.name, String(address), since: began)
  }

  private func report(_ name: String, _ address: String, since began: ContinuousClock.Instant) {
    ready.insert(name)
    let took = (ContinuousClock.now - began).wholeMilliseconds
    terminal.line("  \(padded(name, 20))\(padded(address, 18))ready after \(took) ms")
  }

  /// Asks again and again until there is no complaint.
  private func wait(
    for child: ChildProcess, by deadline: Deadline, _ complaint: () -> String?
  ) throws {
    while let problem = complaint() {
      if isInterrupted() { throw Interrupted() }
      if let ending = child.ending.wait(by: min(deadline, .after(.milliseconds(20)))) {
        throw StackError(child, "ended with \(ending) before it was ready")
      }
      if deadline.hasPassed {
        throw StackError(child, "was not ready in \(plan.patience): \(problem)")
      }
    }
  }

  /// A process that has ended though nobody asked it to, if there is one.
  var broken: StackError? {
    for child in children {
      if let ending = child.ending.current { return StackError(child, "ended with \(ending)") }
    }
    return nil
  }

  /// A process of the stack by its name, while it is there.
  func child(named name: String) -> ChildProcess? { children.first { $0.program.name == name } }

  /// Stops what runs, the last started first but the broker last of all.
  ///
  /// - Returns: What did not stop as it should.
  func stop() -> [String] {
    var complaints: [String] = []
    for child in children.reversed() where child.ending.current == nil {
      let ending = child.stop(by: .after(.seconds(12)))
      let isYoung = !ready.contains(child.program.name) && ending == .signal(SIGTERM)
      if ending != .exit(0) && !isYoung {
        complaints.append(
          "\(child.program.name) stopped with \(ending), see \(child.program.logFile)")
      }
    }
    children = []
    return complaints
  }
}

/// A process of the stack that is not as it should be.
struct StackError: Error, CustomStringConvertible {
  let description: String

  init(_ child: ChildProcess, _ what: String) {
    let lines = child.lastLogLines().map { "    \($0)" }
    let tail = lines.isEmpty ? "  it wrote nothing" : lines.joined(separator: "\n")
    description =
      "\(child.program.name) \(what)\n  the end of \(child.program.logFile):\n\(tail)"
  }
}

/// The person pressed Ctrl-C.
struct Interrupted: Error, CustomStringConvertible {
  let description = "interrupted"
}
