import CRdkafka
import Glibc
import ServiceRuntime
import Synchronization

/// librdkafka's own cluster inside the process, for tests with injected faults.
///
/// Topics appear on use with four partitions; admin calls and offsets for times are not served.
///
/// `@unchecked Sendable` for two pointers: rdkafka.h says "The API is completely thread-safe", and
/// each mock call here passes an operation to the cluster's own thread or takes its lock.
@safe public final class MockCluster: @unchecked Sendable {
  /// Kinds of request, by Kafka's API keys.
  public struct Request: RawRepresentable, Sendable {
    /// Kafka's API key.
    public let rawValue: Int16
    /// Wraps an API key.
    public init(rawValue: Int16) { self.rawValue = rawValue }
    /// Producing records.
    public static let produce = Request(rawValue: 0)
    /// Fetching records.
    public static let fetch = Request(rawValue: 1)
    /// Asking where logs begin and end.
    public static let listOffsets = Request(rawValue: 2)
    /// Asking for topics and brokers.
    public static let metadata = Request(rawValue: 3)
    /// Committing positions.
    public static let offsetCommit = Request(rawValue: 8)
    /// Asking for an idempotent producer's id.
    public static let initProducerID = Request(rawValue: 22)
  }

  private let client: ClientHandle
  private let cluster: OpaquePointer
  private let places = Mutex<[Int: HeldPort]>([:])
  /// The cluster's brokers as host:port, separated by commas.
  public let bootstrapServers: String

  /// Starts a cluster with brokers 1 to `brokers`.
  public init(brokers: Int = 1) throws(KafkaError) {
    client = unsafe try ClientHandle(
      RD_KAFKA_PRODUCER, .unconnected, own: [("log_level", "0")],
      context: ClientContext(name: "mock-cluster", log: .silent, metrics: Metrics()))
    let made: OpaquePointer? = try unsafe client.use { handle in
      unsafe rd_kafka_mock_cluster_new(handle, Int32(brokers))
    }
    guard let made = unsafe made else {
      throw KafkaError(code: .invalidArgument, reason: "no mock cluster of \(brokers) brokers")
    }
    unsafe cluster = made
    bootstrapServers = unsafe text(rd_kafka_mock_cluster_bootstraps(made)) ?? ""
  }

  deinit {
    unsafe rd_kafka_mock_cluster_destroy(cluster)
    client.destroy()
  }

  /// How clients reach the cluster: one batch at a time, as it takes what follows a batch that it refused,
  /// which no broker does with an idempotent producer.
  public var configuration: ClientConfiguration {
    ClientConfiguration(checked: ["bootstrap.servers": bootstrapServers, "max.in.flight": "1"])
  }

  /// Makes a topic.
  public func createTopic(_ name: String, partitions: Int) throws(KafkaError) {
    try check(
      unsafe rd_kafka_mock_topic_create(cluster, name, Int32(partitions), 1),
      "making topic \(name)")
  }

  /// Cuts a broker off, or lets it return.
  public func setBroker(_ id: Int, isUp: Bool) throws(KafkaError) {
    if isUp {
      try check(unsafe rd_kafka_mock_broker_set_up(cluster, Int32(id)), "broker \(id)")
      places.withLock { _ = $0.removeValue(forKey: id) }
    } else {
      try check(unsafe rd_kafka_mock_broker_set_down(cluster, Int32(id)), "broker \(id)")
      let address = bootstrapServers.split(separator: ",")[id - 1]
      guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else { return }
      let place = try HeldPort(port)
      places.withLock { $0[id] = place }
    }
  }

  /// Lets a broker answer each request only after a time.
  public func setRoundTrip(_ broker: Int, _ time: Duration) throws(KafkaError) {
    try check(
      unsafe rd_kafka_mock_broker_set_rtt(
        cluster, Int32(broker), Int32(clamping: time.wholeMilliseconds)),
      "broker \(broker)")
  }

  /// Answers the next requests of a kind with these errors, one each.
  public func push(errors: [KafkaErrorCode], for request: Request) {
    let codes = errors.map { rd_kafka_resp_err_t(rawValue: $0.rawValue) }
    unsafe rd_kafka_mock_push_request_errors_array(
      cluster, request.rawValue, codes.count, codes)
  }
}

/// A port of the loopback address that nobody gets and where nobody is answered, while this is there.
///
/// A broker that is down has closed its socket. If another program were given its port meanwhile, the mock cluster
/// would end the process with an assertion when the broker returns. The broker itself may listen beside this
/// (ip(7): with SO_REUSEADDR, "a socket may bind, except when there is an active listening socket").
private final class HeldPort: Sendable {
  private let socket: CInt

  init(_ port: UInt16) throws(KafkaError) {
    socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    var on: CInt = 1
    _ = unsafe setsockopt(
      socket, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<CInt>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
    let bound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard bound == 0 else {
      throw KafkaError(code: .invalidArgument, reason: "port \(port) cannot be held: \(errno)")
    }
  }

  deinit { close(socket) }
}
