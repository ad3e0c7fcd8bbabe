import Testing

@Suite("What replays has nothing to write or send with") struct ReplaySourceTests {
  /// What would let a process publish, serve, ask others or act by time.
  private static let hands = [
    "Producer(", "Relay(", "Timers(", "HTTPClient(", "Server(", "Processor(", "Router(",
    "WebhookSender(", "IntakeWorker(", "AppleJobs(",
  ]
  private static let folders = [
    "Services/purser/Replay/", "Shared/Pipeline/Rebuild/", "Services/order-service/Rebuild/",
    "Services/verify-service/Rebuild/", "Services/entitlement-service/Rebuild/",
  ]
  /// Publishing once more is what it is for.
  private static let exception = "Services/purser/Replay/PublishAgain.swift"

  @Test(arguments: folders)
  func `no file of a rebuild or a replay makes a producer, a server, a client or timers`(
    folder: String
  ) {
    let files = Repository.codeTexts.filter { $0.path.hasPrefix(folder) }
    #expect(!files.isEmpty)
    for file in files where file.path != Self.exception {
      for hand in Self.hands {
        #expect(!file.text.contains(hand), "\(file.path) has \(hand)")
      }
    }
  }

  @Test func `what may publish is known by its words`() {
    #expect(Repository.text(Self.exception).contains("Producer("))
    #expect(Repository.text("Services/app-store-simulator/Assembly.swift").contains("HTTPClient("))
  }
}
