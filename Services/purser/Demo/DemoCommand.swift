import Events
import HTTPClient
import Kafka
import ServiceRuntime

/// `purser demo`: the whole way once, as a story on the terminal.
enum DemoCommand {
  static let command = Command(
    name: "demo",
    synopsis: "[--keep] [--running]",
    summary: "Plays a story of purchases through the whole stack, then stops everything",
    about: """
      Starts a development broker, the App Store simulator and the three services on free ports of
      127.0.0.1, and plays: an order, a purchase, its proof, a subscription that renews, is cancelled
      and runs out, coins, and a refund. Each HTTP exchange and each event that is read from Kafka
      is a line. Months pass in a moment, as the simulator's clock is moved.

      Each step expects something; what does not come in time ends the demo with the reason and exit
      code 1. If KAFKA_BOOTSTRAP_SERVERS is set, that broker is used, with topics of a prefix of
      their own, which are deleted at the end.

      With --running it starts nothing: it plays on a stack that is there, such as containers, with
      a customer of its own. The services must follow the simulator's clock (PURSER_CLOCK_FILE). The
      key of scope admin comes from PURSER_ADMIN_KEY or PURSER_ADMIN_KEY_FILE, the broker from
      KAFKA_BOOTSTRAP_SERVERS, the topics from PURSER_TOPIC_PREFIX.
      """,
    options: [
      .init(
        name: "--keep", help: "keep the folder with stores and logs, and the topics, afterwards"),
      .init(name: "--running", help: "play on a stack that runs, and leave it as it is"),
      .init(
        name: "--order-url", value: "URL",
        help: "order-service, with --running (default: http://127.0.0.1:8081)"),
      .init(
        name: "--entitlement-url", value: "URL",
        help: "entitlement-service, with --running (default: http://127.0.0.1:8083)"),
      .init(
        name: "--simulator-url", value: "URL",
        help: "the simulator, with --running (default: http://127.0.0.1:8090)"),
    ],
    examples: [
      "purser demo", "KAFKA_BOOTSTRAP_SERVERS=localhost:9092 purser demo",
      "PURSER_ADMIN_KEY_FILE=api-key KAFKA_BOOTSTRAP_SERVERS=localhost:9092 purser demo --running",
    ]
  ) { arguments, settings in
    arguments.has("--running")
      ? try DemoOnRunning.run(arguments, settings)
      : try run(keeps: arguments.has("--keep"), settings)
  }

  private static func run(keeps: Bool, _ settings: Settings) throws -> Int32 {
    let began = ContinuousClock.now
    let signals = ShutdownSignals()
    let isInterrupted: @Sendable () -> Bool = { signals.first.current != nil }
    let terminal = Terminal(settings)
    let folder = try StackFolder.temporary(in: settings.temporaryFolder)
    let plan = try plan(in: folder, settings)
    let http = HTTPClient(workers: 1, name: "demo", log: .silent, metrics: Metrics())
    let stack = Stack(plan, terminal: terminal, http: http, isInterrupted: isInterrupted)

    var failure: (any Error)?
    var summary = ""
    terminal.line(terminal.styled("Starting", .bold) + "  (logs in \(folder.path))")
    do {
      try stack.start()
      summary = try play(stack, http, terminal, isInterrupted)
    } catch {
      failure = stack.broken ?? error
    }
    var complaints = stack.stop()
    if failure == nil && !keeps { complaints += deleteTopics(of: plan) }

    if let failure {
      Terminal.complain("\npurser demo failed: \(failure)")
      Terminal.complain("everything is stopped; stores and logs are in \(folder.path)")
    } else if complaints.isEmpty {
      let seconds = tenths((ContinuousClock.now - began).inSeconds)
      terminal.line()
      terminal.line(terminal.styled("Done in \(seconds) s", .green) + ", everything is stopped.")
      terminal.line(summary)
    }
    for complaint in complaints { Terminal.complain("purser: \(complaint)") }
    let isClean = failure == nil && complaints.isEmpty
    if keeps { terminal.line("Stores and logs are in \(folder.path)") }
    if isClean && !keeps { try folder.remove() }
    return isClean ? Tool.success : Tool.failure
  }

  private static func plan(in folder: StackFolder, _ settings: Settings) throws -> StackPlan {
    var plan = StackPlan(places: try .around(), folder: folder.path, ports: try .free())
    if settings.hasBroker {
      plan.kafka = settings.kafka
      plan.topicPrefix = "purser-demo-\(folder.path.suffix(8))."
    }
    plan.environment = settings.passedOn
    plan.logLevel = settings.logLevel
    return plan
  }

  private static func play(
    _ stack: Stack, _ http: HTTPClient, _ terminal: Terminal,
    _ isInterrupted: @escaping @Sendable () -> Bool
  ) throws -> String {
    try withTeller(
      on: stack.plan.stage, http, terminal, isInterrupted, broken: { stack.broken }
    ) { try Story($0).play() }
  }

  /// Tells a story of which each event is a line, and sums it up.
  static func withTeller(
    on stage: Stage, _ http: HTTPClient, _ terminal: Terminal,
    _ isInterrupted: @escaping @Sendable () -> Bool,
    broken: @escaping () -> StackError? = { nil }, _ story: (Storyteller) throws -> Void
  ) throws -> String {
    let topics: [Topic] = [
      .customers, .orders, .proofs, .appstore, .transactions, .entitlements,
    ]
    let events = try EventReader(topics, on: stage) { event in
      let line = RecordLine.line(event.record, topic: event.topic, terminal)
      terminal.line("  \(terminal.styled("event", .cyan))  \(line)")
    }
    defer { events.close() }
    let teller = Storyteller(
      stage: stage, http: http, events: events, terminal: terminal, isInterrupted: isInterrupted,
      broken: broken)
    try story(teller)
    return "\(teller.exchanges) HTTP exchanges, \(events.count) events read from Kafka, "
      + "every one as expected."
  }

  /// A broker of others is left as it was; ours goes with its folder.
  private static func deleteTopics(of plan: StackPlan) -> [String] {
    guard plan.kafka != nil else { return [] }
    do {
      let admin = try Admin(
        try ClientConfiguration(fromEnvironment: plan.kafkaVariables), name: "purser-demo",
        log: .silent, metrics: Metrics())
      defer { admin.closeAndWait() }
      try admin.delete(
        Topic.allCases.map(plan.topics.name(of:)), timeout: TopicsCommand.patience)
      return []
    } catch {
      return ["the topics \(plan.topicPrefix)… are left on the broker: \(error)"]
    }
  }

  private static func tenths(_ seconds: Double) -> String {
    let tenths = Int((seconds * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
