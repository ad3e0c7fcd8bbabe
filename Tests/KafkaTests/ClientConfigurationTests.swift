import FoundationEssentials
import Kafka
import ServiceRuntime
import TestSupport
import Testing

@Suite struct `Kafka settings` {
  @Test func `properties reach librdkafka`() async throws {
    let cluster = try MockCluster()
    try cluster.createTopic("settings", partitions: 1)
    let configuration = try ClientConfiguration(fromEnvironment: [
      "BOOTSTRAP_SERVERS": cluster.bootstrapServers, "COMPRESSION_CODEC": "lz4",
      "SOCKET_TIMEOUT_MS": "5000",
    ])
    let delivered = try await produce([Record("settings", key: "a", "1")], configuration)
    #expect(delivered == [Delivered(partition: 0, offset: 0)])
  }

  @Test(arguments: [
    "ACKS", "REQUEST_REQUIRED_ACKS", "ENABLE_IDEMPOTENCE", "MESSAGE_TIMEOUT_MS",
    "DELIVERY_TIMEOUT_MS", "MAX_IN_FLIGHT", "MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION", "RETRIES",
    "LINGER_MS", "QUEUE_BUFFERING_MAX_MS", "PARTITIONER", "TRANSACTIONAL_ID", "AUTO_OFFSET_RESET",
    "ENABLE_AUTO_COMMIT", "GROUP_ID", "GROUP_INSTANCE_ID", "MESSAGE_MAX_BYTES",
    "ALLOW_AUTO_CREATE_TOPICS", "LOG_QUEUE", "PLUGIN_LIBRARY_PATHS", "QUEUING_STRATEGY",
  ])
  func `what would break a promise is refused with its reason`(_ variable: String) {
    let error = #expect(throws: KafkaConfigurationError.self) {
      try ClientConfiguration(fromEnvironment: ["BOOTSTRAP_SERVERS": "a:1", variable: "1"])
    }
    #expect(error?.faults.map(\.variable) == ["KAFKA_\(variable)"])
    #expect(error?.faults.first?.problem.contains("cannot be set: ") == true)
  }

  @Test func `all faults come at once`() {
    let error = #expect(throws: KafkaConfigurationError.self) {
      try ClientConfiguration(fromEnvironment: [
        "ACKS": "1", "NO_SUCH_PROPERTY": "x", "SOCKET_TIMEOUT_MS": "soon",
        "SSL_CA_LOCATION_FILE": "/x", "SASL_PASSWORD_FILE": "/does/not/exist",
      ])
    }
    #expect(
      error?.faults.map(\.variable) == [
        "KAFKA_ACKS", "KAFKA_NO_SUCH_PROPERTY", "KAFKA_SASL_PASSWORD_FILE",
        "KAFKA_SOCKET_TIMEOUT_MS", "KAFKA_SSL_CA_LOCATION_FILE", "KAFKA_BOOTSTRAP_SERVERS",
      ])
  }

  @Test(arguments: ["SSL_KEY_PASSWORD", "SASL_PASSWORD", "SSL_KEY_PEM", "SASL_OAUTHBEARER_CONFIG"])
  func `secrets never show`(_ variable: String) throws {
    let secret = "hush-hush"
    var described = ""
    do {
      let configuration = try ClientConfiguration(fromEnvironment: [
        "BOOTSTRAP_SERVERS": "a:1", variable: secret, "SECURITY_PROTOCOL": "sasl_ssl",
        "ACKS": "1",
      ])
      described = "\(configuration)"
    } catch {
      described = "\(error)"
    }
    #expect(described.contains("KAFKA_ACKS"))
    #expect(!described.contains(secret))
  }

  @Test func `a configuration shows no values`() throws {
    let configuration = try ClientConfiguration(fromEnvironment: [
      "BOOTSTRAP_SERVERS": "a:1", "SASL_PASSWORD": "hush-hush",
    ])
    var dumped = ""
    dump(configuration, to: &dumped)
    #expect(!"\(configuration)\(dumped)\(String(reflecting: configuration))".contains("hush-hush"))
  }

  @Test func `a secret may stand in a file`() throws {
    let path = TestFolder.path("secret")
    try Data("hush-hush\n".utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let configuration = try ClientConfiguration(fromEnvironment: [
      "BOOTSTRAP_SERVERS": "a:1", "SASL_PASSWORD_FILE": path,
    ])
    #expect(configuration.names == ["bootstrap.servers", "sasl.password"])
    let error = #expect(throws: KafkaConfigurationError.self) {
      try ClientConfiguration(fromEnvironment: [
        "BOOTSTRAP_SERVERS": "a:1", "SASL_PASSWORD_FILE": path, "SASL_PASSWORD": "x",
      ])
    }
    #expect(error?.faults.map(\.variable) == ["KAFKA_SASL_PASSWORD"])
  }
}
