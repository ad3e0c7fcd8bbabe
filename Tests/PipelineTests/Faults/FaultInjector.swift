import Processes
import FoundationEssentials
import Glibc
import Kafka
import ServiceRuntime
import Synchronization
import TestSupport

@testable import purser

/// Makes faults happen to a stack, and remembers which and when.
final class FaultInjector: Sendable {
  private let way: Way
  private let began = ContinuousClock.now
  private let told = Mutex<[String]>([])
  private let diedInStep = Atomic<Int>(0)
  private let deadProducers = Atomic<Int>(0)

  init(_ way: Way) { self.way = way }

  /// The settings by which a service can be made to fail.
  static func settings(of plan: StackPlan) -> [String: [String: String]] {
    let library = "\(plan.places.executables)/libFaultInjection.so"
    let pairs = Way.services.map { name in
      (
        name,
        [
          "LD_PRELOAD": library, "DISK_FULL_FILE": plan.file("disk-full-\(name)"),
          "DISK_READ_ONLY_FILE": plan.file("disk-read-only-\(name)"),
        ]
      )
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// How many processes died inside the step that was chosen.
  var deathsInSteps: Int { diedInStep.load(ordering: .relaxed) }

  /// How many producers librdkafka gave up.
  var producersGivenUp: Int { deadProducers.load(ordering: .relaxed) }

  /// All faults so far, with their time since the start.
  var history: [String] { told.withLock { $0 } }

  /// Lets a fault happen; returns when what it ended was started again.
  ///
  /// - Throws: What may not happen even then, such as a late end after SIGTERM.
  func inject(_ fault: Fault) async throws {
    try noUnaskedEnd()
    let time = (ContinuousClock.now - began).wholeMilliseconds
    told.withLock { $0.append("\(time) ms: \(fault)") }
    switch fault {
    case .kill(let names, let downFor):
      for name in names { try await way.end(name, by: SIGKILL) }
      try await Task.sleep(for: downFor)
      for name in names { try await way.launch(name) }
    case .crash(let name, let point, let time):
      try await crash(name, at: "\(point):\(time)")
    case .terminate(let name):
      try await terminate(name)
    case .freezeBroker(let time):
      way.broker.freeze()
      defer { way.broker.thaw() }
      try await Task.sleep(for: time)
    case .freeze(let name, let time):
      way.freeze(name)
      defer { way.thaw(name) }
      try await Task.sleep(for: time)
    case .startTwice(let name):
      try await startTwice(name)
    case .fillDisk(let name, let time):
      try await raise("disk-full-\(name)", for: time)
    case .readOnlyDisk(let name, let time):
      try await raise("disk-read-only-\(name)", for: time)
    case .brokerDown(let time):
      let cluster = try way.broker.cluster
      try cluster.setBroker(1, isUp: false)
      try await Task.sleep(for: time)
      try cluster.setBroker(1, isUp: true)
    case .slowBroker(let round, let time):
      let cluster = try way.broker.cluster
      try cluster.setRoundTrip(1, round)
      try await Task.sleep(for: time)
      try cluster.setRoundTrip(1, .zero)
    case .brokerErrors:
      try answerWithErrors(try way.broker.cluster)
      try await Task.sleep(for: .seconds(1))
    case .fatalProducer:
      try await endProducer(try way.broker.cluster)
    case .stepClock(let shift, let time):
      try setClock(shift)
      try await Task.sleep(for: time)
      try setClock(0)
    }
  }

  /// Starts everything again that does not run, without faults, and waits until it is ready.
  func mend() async throws {
    try noUnaskedEnd()
    way.broker.thaw()
    for name in Way.services where way.child(name)?.ending.current != nil {
      try await way.launch(name)
    }
    for name in Way.services { try await way.ready(name) }
  }

  /// No service may end unless it was ended.
  private func noUnaskedEnd() throws {
    for name in Way.services {
      guard let ending = way.child(name)?.ending.current else { continue }
      throw NotInTime(
        description: "\(name) ended by itself with \(ending):\n\(way.lastLines(of: name, 30))")
    }
  }

  /// Exchanges the process for one that dies inside a step; if it does not get there, it is killed.
  private func crash(_ name: String, at point: String) async throws {
    try await way.end(name, by: SIGKILL)
    try await way.launch(name, with: ["CRASH_POINT": point])
    let deadline = Deadline.after(.seconds(8))
    while way.child(name)?.ending.current == nil && !deadline.hasPassed {
      try await Task.sleep(for: .milliseconds(10))
    }
    let ending = try await way.end(name, by: SIGKILL)
    guard ending == .signal(SIGKILL) else {
      throw NotInTime(
        description: "\(name) ended with \(ending) on its way to \(point):\n"
          + way.lastLines(of: name, 30))
    }
    if !deadline.hasPassed { diedInStep.add(1, ordering: .relaxed) }
    note(deadline.hasPassed ? "  it did not get there" : "  it died there")
    try await way.launch(name)
  }

  /// The flag that the library FaultInjection looks for.
  private func raise(_ name: String, for time: Duration) async throws {
    let flag = way.plan.file(name)
    try Data().write(to: URL(filePath: flag))
    defer { try? FileManager.default.removeItem(atPath: flag) }
    try await Task.sleep(for: time)
  }

  /// Errors that a broker answers while it changes leaders, is overloaded or was just started.
  private func answerWithErrors(_ cluster: MockCluster) throws {
    let passing: [KafkaErrorCode] = [
      .notLeader, .requestTimedOut, .leaderNotAvailable, .notEnoughReplicas,
    ]
    cluster.push(errors: passing, for: .produce)
    cluster.push(errors: [.notLeader, .leaderNotAvailable, .notLeader], for: .fetch)
    cluster.push(errors: [.coordinatorNotAvailable, .notCoordinator], for: .offsetCommit)
    cluster.push(errors: [.leaderNotAvailable, .notLeader], for: .listOffsets)
  }

  /// Answers one batch with a sequence number that is wrong.
  ///
  /// For the oldest batch under way it means that records were lost; an idempotent producer may not go on
  /// then (KIP-360). It may be a relay's or an edge's.
  private func endProducer(_ cluster: MockCluster) async throws {
    func given() throws -> Int {
      try Way.services.map { name in
        let log = try Data(contentsOf: URL(filePath: way.plan.file("\(name).log")))
        return String(decoding: log, as: UTF8.self)
          .split(separator: "the kafka client must be replaced", omittingEmptySubsequences: false)
          .count - 1
      }.reduce(0, +)
    }
    let before = try given()
    cluster.push(errors: [.outOfOrderSequence], for: .produce)
    _ = try await eventually("a producer was given up") { try given() > before ? true : nil }
    deadProducers.add(1, ordering: .relaxed)
  }

  /// The file that all services read; the simulator, which writes it, keeps its own time meanwhile.
  private func setClock(_ shift: Int64) throws {
    try Data("\(shift)\n".utf8).write(
      to: URL(filePath: way.plan.file("clock")), options: .atomic)
  }

  private func note(_ text: String) { told.withLock { $0.append(text) } }

  private func terminate(_ name: String) async throws {
    // Before a service is ready it may not hear the signal as it should.
    try await way.ready(name)
    let began = ContinuousClock.now
    let ending = try await way.end(name, by: SIGTERM)
    let took = ContinuousClock.now - began
    guard ending == .exit(0), took < .seconds(10) else {
      throw NotInTime(
        description: "\(name) ended with \(ending) after \(took):\n\(way.lastLines(of: name, 30))")
    }
    try await way.launch(name)
  }

  private func startTwice(_ name: String) async throws {
    try await way.ready(name)
    var second = try way.program(name)
    second.logFile = way.plan.file("\(name)-second.log")
    // A port of its own, so that it is the store that refuses it.
    let port = "\(name.split(separator: "-")[0].uppercased())_HTTP_PORT"
    second.environment[port] = "0"
    let child = try await offPool { [second] in try ChildProcess(second) }
    let ending = await child.ending.value()
    guard ending == .exit(1) else {
      throw NotInTime(description: "a second \(name) on one store ended with \(ending)")
    }
  }
}
