import Access
import Events
import FoundationEssentials
import HTTPClient
import ServiceRuntime

/// `purser up`: the whole stack, until Ctrl-C.
enum UpCommand {
  static let command = Command(
    name: "up",
    synopsis: "[--directory D] [--ports BASE|free]",
    summary: "Starts everything on this machine and keeps it running until Ctrl-C",
    about: """
      Starts a development broker, makes the topics, starts the App Store simulator and the three
      services on 127.0.0.1, and prints their addresses, an API key, and commands ready to paste.
      Then it shows events as they come. Ctrl-C stops everything; it also ends if purser is killed.

      Each start begins anew: stores, topics and the simulator's purchases are those of this run.
      If KAFKA_BOOTSTRAP_SERVERS is set, that broker is used, with the topics of PURSER_TOPIC_PREFIX,
      which then keep what earlier runs wrote: give each run a prefix of its own.

      The services read the file 'keys' in that folder and notice its changes: 'purser keys create
      --file D/keys …' adds a key while they run. It begins with the keys of PURSER_API_KEYS_FILE.
      ENTITLEMENT_WEBHOOKS_PRIVATE=1 lets webhooks go to this machine.
      """,
    options: [
      .init(
        name: "--directory", value: "D",
        help: """
          where stores, logs and the broker's data go; emptied at the start
          (default: .purser/up in the repository)
          """),
      .init(
        name: "--ports", value: "BASE",
        help: """
          order, verify, entitlement, simulator and broker listen on BASE+1, +2, +3, +10
          and +1012 (default 8080: 8081, 8082, 8083, 8090, 9092); 'free' takes any
          """),
    ],
    examples: ["purser up", "purser up --ports 18080 --directory /tmp/purser"]
  ) { arguments, settings in
    try run(arguments, settings)
  }

  private static func run(_ arguments: Arguments, _ settings: Settings) throws -> Int32 {
    let signals = ShutdownSignals()
    let terminal = Terminal(settings)
    let places = try Places.around()
    let folder = try StackFolder(
      at: arguments.text("--directory") ?? "\(places.repository)/.purser/up")
    var plan = StackPlan(places: places, folder: folder.path, ports: try ports(arguments))
    plan.kafka = settings.hasBroker ? settings.kafka : nil
    plan.topicPrefix = settings.topicPrefix
    plan.environment = settings.passedOn
    plan.logLevel = settings.logLevel
    try plan.ports.check(needsBroker: plan.kafka == nil)
    try folder.lock()
    try folder.empty()
    try folder.write(secret: plan.apiKey, to: "api-key")
    let keys = try settings.keyFile.map { try KeyFile(path: $0).read().lines.map(\.text) } ?? []
    try folder.write(secret: ([plan.keyLine] + keys).joined(separator: "\n"), to: "keys")
    plan.keyFile = plan.file("keys")
    plan.allowsPrivateWebhooks = settings.allowsPrivateWebhooks

    let http = HTTPClient(workers: 1, name: "up", log: .silent, metrics: Metrics())
    let stack = Stack(plan, terminal: terminal, http: http) { signals.first.current != nil }
    terminal.line("starting, logs in \(plan.folder)")
    var result = Tool.success
    do {
      try stack.start()
      let topics: [Topic] = [.orders, .transactions, .entitlements]
      let events = try EventReader(topics, on: plan.stage) { event in
        terminal.line(RecordLine.line(event.record, topic: event.topic, terminal))
      }
      defer { events.close() }
      terminal.line(UpText.whatIsThere(plan, terminal))
      try watch(stack, until: signals)
    } catch is Interrupted {
      // Ctrl-C while starting is as good an end as any.
    } catch {
      Terminal.complain("purser: \(error)")
      result = Tool.failure
    }
    terminal.line("stopping")
    for complaint in stack.stop() {
      Terminal.complain("purser: \(complaint)")
      result = Tool.failure
    }
    terminal.line("everything is stopped")
    return result
  }

  /// Waits for Ctrl-C, or for a process that ends by itself.
  private static func watch(_ stack: Stack, until signals: ShutdownSignals) throws {
    while signals.first.wait(by: .after(.milliseconds(250))) == nil {
      if let broken = stack.broken { throw broken }
    }
  }

  private static func ports(_ arguments: Arguments) throws -> StackPorts {
    if arguments.text("--ports") == "free" { return try .free() }
    let base = try arguments.integer("--ports", in: 1024...StackPorts.highestBase)
    return base.map(StackPorts.init(base:)) ?? .usual
  }
}
