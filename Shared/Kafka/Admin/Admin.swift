import CRdkafka
public import ServiceRuntime
import Synchronization

/// Asks for topics and makes them.
///
/// All calls block, so they belong on threads of ours; `perform` takes them to one.
public final class Admin: Sendable {
  private let client: ClientHandle
  private let jobs = AdminJobs()
  private let thread: DedicatedThread

  /// Makes an admin client; it connects by itself.
  ///
  /// - Throws: `KafkaError` when librdkafka refuses the configuration.
  public init(
    _ configuration: ClientConfiguration, name: String, log: Log, metrics: Metrics
  ) throws(KafkaError) {
    let client = unsafe try ClientHandle(
      RD_KAFKA_PRODUCER, configuration, own: [],
      context: ClientContext(name: name, log: log, metrics: metrics))
    self.client = client
    let jobs = jobs
    // Between jobs it serves log lines, which would pile up otherwise.
    thread = DedicatedThread(name: "kafka-admin") {
      while !jobs.isClosed {
        client.serve(milliseconds: 1000)
        while let job = jobs.next() { job() }
      }
      client.destroy()
    }
  }

  deinit { beginClosing() }

  /// Runs blocking calls on the client's own thread, one after the other.
  ///
  /// - Throws: What the body throws, or `.closed`.
  public func perform<R: Sendable>(
    _ body: @escaping @Sendable (Admin) throws(KafkaError) -> R
  ) async throws(KafkaError) -> R {
    let answer = Completion<Result<R, KafkaError>>()
    let wasTaken = jobs.add { [self] in
      do throws(KafkaError) {
        answer.complete(with: .success(try body(self)))
      } catch {
        answer.complete(with: .failure(error))
      }
    }
    guard wasTaken else {
      throw KafkaError(code: .closed, reason: "Kafka client \(client.context.name) is closed")
    }
    client.interruptServe()
    return try await answer.value().get()
  }

  /// Ends the client after the jobs that it has; safe to repeat.
  public func close() async {
    beginClosing()
    await thread.joined()
  }

  /// The same as `close` for threads of ours, which may block.
  public func closeAndWait() {
    beginClosing()
    thread.join()
  }

  private func beginClosing() {
    jobs.close()
    client.interruptServe()
  }

  /// Whether a broker answers in time.
  ///
  /// Blocks.
  public func isReachable(timeout: Duration) -> Bool {
    (try? metadata(all: false, timeout: timeout)) != nil
  }

  /// All topics of the cluster, by name.
  ///
  /// Blocks.
  ///
  /// - Throws: What kept us from the brokers: for `.tls` and `.authentication` with the settings to look at.
  public func topics(timeout: Duration) throws(KafkaError) -> [String: TopicDescription] {
    try metadata(all: true, timeout: timeout)
  }

  private func metadata(
    all: Bool, timeout: Duration
  ) throws(KafkaError) -> [String: TopicDescription] {
    unsafe try client.use { handle throws(KafkaError) in
      var found: UnsafePointer<rd_kafka_metadata>?
      let code = unsafe rd_kafka_metadata(
        handle, all ? 1 : 0, nil, &found, Int32(clamping: timeout.wholeMilliseconds))
      do throws(KafkaError) {
        try check(code, "asking the brokers for topics")
      } catch {
        // What kept us from the brokers may lie in the queue still.
        client.serve(milliseconds: 0)
        if let fault = client.context.fault { throw fault }
        // librdkafka speaks of a broken connection also when it has not tried to connect yet.
        guard error.code == .transport else { throw error }
        throw KafkaError(code: .timedOut, reason: "no broker answered in \(timeout)")
      }
      client.context.answered()
      guard let found = unsafe found else { return [:] }
      defer { unsafe rd_kafka_metadata_destroy(found) }
      return unsafe Self.read(found.pointee)
    }
  }

  private static func read(_ metadata: rd_kafka_metadata) -> [String: TopicDescription] {
    var topics: [String: TopicDescription] = [:]
    for index in 0..<Int(unsafe metadata.topic_cnt) {
      let topic = unsafe metadata.topics[index]
      guard unsafe topic.err == RD_KAFKA_RESP_ERR_NO_ERROR else { continue }
      let name = unsafe text(topic.topic) ?? ""
      let count = Int(unsafe topic.partition_cnt)
      var description = TopicDescription(
        name: name, partitions: count, replicationFactor: 0, hasLeaders: true)
      for place in 0..<count {
        let partition = unsafe topic.partitions[place]
        if place == 0 { description.replicationFactor = Int(unsafe partition.replica_cnt) }
        if unsafe partition.leader < 0 { description.hasLeaders = false }
      }
      topics[name] = description
    }
    return topics
  }

  /// The settings of a topic by Kafka's names, defaults included.
  ///
  /// Blocks.
  public func settings(of topic: String, timeout: Duration) throws(KafkaError) -> [String: String] {
    unsafe try client.use { handle throws(KafkaError) in
      unsafe try AdminRequests.settings(of: topic, timeout, handle)
    }
  }

  /// Makes topics.
  ///
  /// Blocks.
  ///
  /// - Throws: The first fault, naming its topic (`.topicAlreadyExists` for instance), after all
  ///   topics were tried.
  public func create(_ topics: [TopicSpecification], timeout: Duration) throws(KafkaError) {
    guard !topics.isEmpty else { return }
    unsafe try client.use { handle throws(KafkaError) in
      unsafe try AdminRequests.create(topics, timeout, handle)
    }
  }

  /// Deletes topics with all they hold.
  ///
  /// Blocks.
  ///
  /// - Throws: The first fault, naming its topic, after all topics were tried.
  public func delete(_ topics: [String], timeout: Duration) throws(KafkaError) {
    guard !topics.isEmpty else { return }
    unsafe try client.use { handle throws(KafkaError) in
      unsafe try AdminRequests.delete(topics, timeout, handle)
    }
  }
}

/// The jobs of an admin's thread, in order.
private final class AdminJobs: Sendable {
  private struct State {
    var jobs: [@Sendable () -> Void] = []
    var isClosed = false
  }

  private let state = Mutex(State())
  /// More jobs than this at once are a mistake of the caller.
  private static let limit = 100

  func add(_ job: @escaping @Sendable () -> Void) -> Bool {
    state.withLock { state in
      guard !state.isClosed && state.jobs.count < Self.limit else { return false }
      state.jobs.append(job)
      return true
    }
  }

  func next() -> (@Sendable () -> Void)? {
    state.withLock { $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }
  }

  func close() { state.withLock { $0.isClosed = true } }

  /// Whether the end was asked for and no job is left.
  var isClosed: Bool { state.withLock { $0.isClosed && $0.jobs.isEmpty } }
}
