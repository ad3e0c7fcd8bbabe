import Glibc
import ServiceRuntime
import Synchronization
import Testing

/// Tells what happens to it, and does what the test wants.
private final class Probe: Service {
  enum Manner: Sendable {
    case obedient
    case failing(String)
    case returning
    case deaf
    case failingAtStop
  }

  let name: String
  private let manner: Manner
  private let events: Events
  private let stopped = Completion<Void>()

  init(_ name: String, _ events: Events, _ manner: Manner = .obedient) {
    self.name = name
    self.manner = manner
    self.events = events
  }

  func run() async throws {
    events.add("run \(name)")
    switch manner {
    case .failing(let why): throw Broken(why: why)
    case .returning: return
    case .failingAtStop:
      await stopped.value()
      throw Broken(why: "could not flush")
    case .obedient, .deaf: await stopped.value()
    }
  }

  func stop(by deadline: Deadline) async {
    events.add("stop \(name)")
    if case .deaf = manner { await events.isOver.value() }
    stopped.complete(with: ())
    if case .failingAtStop = manner { _ = await events.hasLine("could not flush") }
  }
}

private struct Broken: Error, CustomStringConvertible {
  let why: String
  var description: String { why }
}

private final class Events: Sendable {
  private let seen = Mutex<[String]>([])
  private let lines = Mutex<[String]>([])
  /// Completes when the test has seen enough, so that a deaf service ends too.
  let isOver = Completion<Void>()

  func add(_ event: String) { seen.withLock { $0.append(event) } }
  var all: [String] { seen.withLock { $0 } }
  var log: Log { Log(program: "test", sink: { line in self.lines.withLock { $0.append(line) } }) }
  var logged: String { lines.withLock { $0.joined() } }

  func hasLine(_ text: String) async -> Bool { await eventually { logged.contains(text) } }
}

@Suite struct `A group of services` {
  private let events = Events()

  @Test func `starts in order and stops in reverse when asked`() async {
    let services = ["store", "relay", "http"].map { Probe($0, events) }
    let stop = Completion<Void>()
    let group = ServiceGroup(services, log: events.log)
    let running = Task { await group.run(signals: nil, stop: stop) }
    #expect(await eventually { events.all.count == 3 })
    stop.complete(with: ())
    #expect(await running.value == .clean)
    #expect(
      events.all == ["run store", "run relay", "run http", "stop http", "stop relay", "stop store"])
  }

  @Test(arguments: 0..<20)
  func `a stop that comes at once still finds every service started`(_ round: Int) async {
    let services = ["store", "relay", "http"].map { Probe($0, events) }
    let stop = Completion<Void>()
    stop.complete(with: ())
    #expect(await ServiceGroup(services, log: events.log).run(signals: nil, stop: stop) == .clean)
    #expect(
      events.all == ["run store", "run relay", "run http", "stop http", "stop relay", "stop store"])
  }

  @Test func `a failure stops all and is named`() async {
    let services = [
      Probe("store", events), Probe("relay", events, .failing("no broker")), Probe("http", events),
    ]
    #expect(await ServiceGroup(services, log: events.log).run(signals: nil) == .failed)
    #expect(events.all.suffix(3) == ["stop http", "stop relay", "stop store"])
    #expect(events.logged.contains("\"service\":\"relay\""))
    #expect(events.logged.contains("no broker"))
  }

  @Test func `a service that returns by itself stops all`() async {
    let services = [Probe("store", events), Probe("http", events, .returning)]
    #expect(await ServiceGroup(services, log: events.log).run(signals: nil) == .failed)
    #expect(events.all.suffix(2) == ["stop http", "stop store"])
  }

  @Test func `a service that does not stop is reported and waited for no longer`() async {
    let services = [Probe("store", events), Probe("http", events, .deaf)]
    let stop = Completion<Void>()
    stop.complete(with: ())
    let group = ServiceGroup(services, log: events.log, stopWithin: .milliseconds(50))
    let began = ContinuousClock.now
    #expect(await group.run(signals: nil, stop: stop) == .failed)
    #expect(ContinuousClock.now - began < .seconds(8))
    #expect(events.logged.contains("\"message\":\"late to stop\""))
    #expect(events.logged.contains("\"service\":\"http\""))
    // The others are asked all the same.
    #expect(await eventually { events.all.contains("stop store") })
    events.isOver.complete(with: ())
  }

  @Test func `a service that fails while it stops is reported`() async {
    let services = [Probe("store", events), Probe("relay", events, .failingAtStop)]
    let stop = Completion<Void>()
    stop.complete(with: ())
    #expect(await ServiceGroup(services, log: events.log).run(signals: nil, stop: stop) == .failed)
    #expect(events.logged.contains("could not flush"))
  }
}

@Suite struct `Signals` {
  @Test(arguments: [(SIGTERM, "SIGTERM"), (SIGINT, "SIGINT")])
  func `the first signal is told and ends nothing by itself`(_ number: Int32, _ name: String)
    async
  {
    await #expect(processExitsWith: .exitCode(7)) {
      [number = number as Int32, name = name as String] in
      let signals = ShutdownSignals()
      kill(getpid(), number)
      let told = await signals.first.value()
      exit(told == name ? 7 : 1)
    }
  }

  @Test func `a second signal ends the process at once`() async {
    await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
      let signals = ShutdownSignals()
      kill(getpid(), SIGTERM)
      _ = await signals.first.value()
      kill(getpid(), SIGTERM)
      await Completion<Void>().value()
    }
  }
}
