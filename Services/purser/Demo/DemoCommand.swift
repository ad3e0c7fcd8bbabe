import Events
import HTTPClient
import Kafka
import ServiceRuntime

/// `purser demo`: the whole way once, as a story on the terminal.
enum DemoCommand {
  static let command = Command(
    name: "demo",
    synopsis: "[--keep]",
    summary: "Plays a story of purchases through the whole stack, then stops everything",
    about: """
      Starts a development broker, the App Store simulator and the three services on free ports of
      127.0.0.1, and plays: an order, a purchase, its proof, a subscription that renews, is cancelled
      and runs out, coins, and a refund. Each HTTP exchange and each event that is read from Kafka
      is a line. Months pass in a moment, as the simulator's clock is moved.

      Each step expects something; what does not come in time ends the demo with the reason and exit
      code 1. If KAFKA_BOOTSTRAP_SERVERS is set, that broker is used, with topics of a prefix of
      their own, which are deleted at the end.
      """,
    options: [
      .init(
        name: "--keep", help: "keep the folder with stores and logs, and the topics, afterwards")
    ],
    examples: ["purser demo", "KAFKA_BOOTSTRAP_SERVERS=localhost:9092 purser demo"]
  ) { arguments, settings in
    try run(keeps: arguments.has("--keep"), settings)
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
    let topics: [Topic] = [
      .customers, .orders, .proofs, .appstore, .transactions, .entitlements,
    ]
    let events = try EventReader(topics, of: stack.plan) { event in
      let line = RecordLine.line(event.record, topic: event.topic, terminal)
      terminal.line("  \(terminal.styled("event", .cyan))  \(line)")
    }
    defer { events.close() }
    let teller = Storyteller(
      stack: stack, http: http, events: events, terminal: terminal, isInterrupted: isInterrupted)
    try Story(teller).play()
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
