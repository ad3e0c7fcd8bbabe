import Events
import FoundationEssentials
import Glibc
import Kafka
import Pipeline
import Processes
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import purser

extension WholeWay {
  /// However long a topic is, a replay takes no more memory, and whoever was killed goes on.
  @Suite(
    "Replay of long topics", .serialized, .timeLimit(.minutes(4)),
    WayTrait(services: [], keepsLaws: false))
  struct LongReplayTests {
    private var way: Way { get throws { try WholeWay.way } }

    /// By how many KiB eight times as long a topic may differ: what is fetched ahead, and caches.
    ///
    /// Of that are 16 MB the broker's of development, which gives a whole partition in one answer. A story kept
    /// in memory would take more than 50 MB more.
    private static let bound = 40 * 1024

    /// Tells the story of one customer with many events, and how far entitlement-service has read.
    private func fill(_ way: Way, _ names: TopicNames, _ count: Int64) throws {
      let configuration = try ClientConfiguration(fromEnvironment: way.plan.kafkaVariables)
      try way.plan.makeTopics(TopicPlan(names: names).specifications)
      let producer = try Producer(
        configuration, name: "teller", log: .silent, metrics: Metrics())
      defer { producer.closeAndWait(by: .after(.seconds(30))) }
      let reports = Wake()
      let left = Counting()
      for version in 1...count {
        var entry = BalanceEntry(id: "entry-\(version)", kind: "grant", amount: 1)
        entry.lineage = nil
        let event = BalanceChanged(
          customer: "whale", version: version,
          balance: Balance(unit: "coins", environment: "Sandbox", amount: version), delta: 1,
          entry: entry, cause: ChangeCause(kind: "grant", author: "test"),
          changedAt: version)
        let headers = EventHeaders(
          id: EventID.make(.balanceChanged, subject: "whale", revision: "\(version)"),
          type: .balanceChanged, source: "/purser/entitlement-service", time: rfc3339(version),
          subject: "whale")
        let record = Record(
          topic: names.name(of: .entitlements), key: Array("whale".utf8),
          value: try EventJSON.encode(event),
          headers: headers.pairs.map { Header(name: $0.name, text: $0.value) }
            + [Header(name: "purser-sequence", text: "\(version)")])
        left.add(1)
        while try !isTaken(record, by: producer, left, reports) {
          reports.wait(atMost: .milliseconds(20))
        }
      }
      while left.value > 0 { reports.wait(atMost: .milliseconds(100)) }
      let group = try Consumer(
        configuration, groupID: "\(names.prefix)entitlement-service", name: "teller", log: .silent,
        metrics: Metrics())
      defer { group.close() }
      let place = TopicPartition(names.name(of: .transactions), 0)
      try group.commit([place: 0])
      let end = Deadline.after(.seconds(20))
      while try group.committed([place], timeout: .seconds(5)).isEmpty, !end.hasPassed {
        _ = try group.poll(maximum: 1, timeout: .milliseconds(50))
      }
    }

    /// False when the producer's queue is full.
    private func isTaken(
      _ record: Record, by producer: Producer, _ left: Counting, _ reports: Wake
    ) throws -> Bool {
      do {
        try producer.enqueue(record) { _ in
          left.add(-1)
          reports.signal()
        }
        return true
      } catch {
        guard error.code == .queueFull else { throw error }
        return false
      }
    }

    private func environment(_ names: TopicNames) throws -> [String: String] {
      var environment = try way.program("entitlement-service").environment
      environment["PURSER_TOPIC_PREFIX"] = names.prefix
      environment["ENTITLEMENT_STORE"] = try way.plan.file("no-store.sqlite")
      environment["PATH"] = "/usr/bin:/bin"
      return environment
    }

    private var purser: String { get throws { "\(try way.plan.places.executables)/purser" } }

    /// The most memory that a command has had at once, KiB.
    private func peak(_ names: TopicNames, _ words: [String]) async throws -> Int {
      let ending = try await Script.run(
        Script.python, ["\(TestData.packageRoot)/Tests/Fixtures/memory/peak.py", purser] + words,
        environment: environment(names))
      #expect(ending.code == 0, "\(words): \(ending.output)")
      let told = ending.output.split(separator: "\n").last { $0.hasPrefix("peak ") }
      return try #require(told.flatMap { Int($0.dropFirst(5)) }, "\(ending.output)")
    }

    @Test func `a topic eight times as long takes no more memory`() async throws {
      let way = try way
      let (short, long) = (TopicNames(prefix: "short."), TopicNames(prefix: "long."))
      try await offPool {
        try fill(way, short, 3_000)
        try fill(way, long, 24_000)
      }
      for question in [["why", "whale"], ["what-if"], ["again", "entitlements"]] {
        var peaks: [Int] = []
        for names in [short, long] {
          let file = way.plan.file("\(question[0])-\(names.prefix)jsonl")
          peaks.append(try await peak(names, ["replay"] + question + ["--to", file]))
        }
        print(
          "replay \(question[0]): \(peaks[0]) KiB at most, eight times as much: \(peaks[1]) KiB")
        #expect(peaks[1] - peaks[0] < Self.bound, "\(question): \(peaks) KiB")
      }
    }

    /// Starts a command, kills it while it is at work, and lets it go on; gives what it said then.
    private func interrupted(_ names: TopicNames, _ words: [String], at file: String) async throws
      -> String
    {
      let way = try way
      let child = try ChildProcess(
        ChildProcess.Program(
          name: "purser", executable: purser, arguments: words, environment: environment(names),
          logFile: way.plan.file("interrupted.log")))
      _ = try await eventually("\(words) has begun") {
        let log = try hasBegun(file)
        return log ? true : nil
      }
      child.send(SIGKILL)
      #expect(await child.ending.value() == .signal(SIGKILL), "it was at work")
      let again = try await Script.run(purser, words, environment: environment(names))
      #expect(again.code == 0, "\(again.output)")
      return again.output
    }

    /// Whether a store that is being made has noted something.
    private func hasBegun(_ file: String) throws -> Bool {
      guard let store = try? Connection(path: file, mode: .readOnly) else { return false }
      let counts = ["rebuild_note", "places"].compactMap { table in
        (try? store.first("SELECT COUNT(*) FROM \(table)") { $0.int(0) }) ?? nil
      }
      return counts.contains { $0 > 0 }
    }

    @Test func `whoever was killed goes on, and tells what it would have told`() async throws {
      let way = try way
      let names = TopicNames(prefix: "cut.")
      try await offPool { try fill(way, names, 12_000) }
      let work = way.plan.file("work")
      let (told, whole) = (way.plan.file("cut.jsonl"), way.plan.file("whole.jsonl"))
      _ = try await interrupted(
        names, ["replay", "what-if", "--resume", work, "--to", told],
        at: "\(work)/entitlement-service/what-if.sqlite.rebuilding")
      #expect(!FileManager.default.fileExists(atPath: "\(work)/entitlement-service"))
      let straight = try await Script.run(
        purser, ["replay", "what-if", "--to", whole], environment: environment(names))
      #expect(straight.code == 0, "\(straight.output)")
      #expect(
        try Data(contentsOf: URL(filePath: told)) == Data(contentsOf: URL(filePath: whole)))

      let story = way.plan.file("story")
      let lines = way.plan.file("story.jsonl")
      _ = try await interrupted(
        names, ["replay", "why", "whale", "--resume", story, "--to", lines], at: story)
      let count = try String(contentsOfFile: lines, encoding: .utf8).split(separator: "\n").count
      #expect(count == 12_000)
      #expect(!FileManager.default.fileExists(atPath: story))
    }
  }
}
