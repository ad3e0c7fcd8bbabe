import Kafka
import ServiceRuntime
import Testing

/// TLS and logins as far as a client sees them: the development broker has neither, so a front that
/// has them stands before it.
@Suite(.timeLimit(.minutes(2)))
struct `A broker with TLS` {
  private let broker: String

  init() throws { broker = try KafkaSubject.devBrokerAddress }

  /// What the settings of an operator bring: the topics' names, or the fault.
  private func topics(_ settings: [String: String]) async throws -> Result<[String], KafkaError> {
    let configuration = try ClientConfiguration(
      fromEnvironment: settings.merging(["BROKER_ADDRESS_FAMILY": "v4"]) { given, _ in given })
    let admin = try newAdmin(configuration)
    let outcome = await topics(admin)
    await admin.close()
    return outcome
  }

  /// Asks again while nothing at all was heard: librdkafka may not have tried to connect before the
  /// first question's time was over.
  private func topics(_ admin: Admin) async -> Result<[String], KafkaError> {
    let deadline = Deadline.after(.seconds(60))
    while true {
      do throws(KafkaError) {
        return .success(
          try await admin.perform { admin throws(KafkaError) in
            Array(try admin.topics(timeout: .seconds(3)).keys)
          })
      } catch {
        guard error.code == .timedOut, !deadline.hasPassed else { return .failure(error) }
      }
    }
  }

  private func fault(_ settings: [String: String]) async throws -> KafkaError? {
    guard case .failure(let error) = try await topics(settings) else { return nil }
    return error
  }

  private func settings(of front: TLSFront) -> [String: String] {
    [
      "BOOTSTRAP_SERVERS": front.address, "SECURITY_PROTOCOL": "SSL",
      "SSL_CA_LOCATION": front.authority,
    ]
  }

  @Test func `is taken when its certificate is by the authority and names the host`() async throws {
    let topic = try await KafkaSubject.devBroker.newTopic()
    let front = try await TLSFront(of: broker)
    let found = try await topics(settings(of: front)).get()
    #expect(found.contains(topic))
  }

  @Test func `carries records there and back`() async throws {
    let topic = try await KafkaSubject.devBroker.newTopic()
    let front = try await TLSFront(of: broker)
    let configuration = try ClientConfiguration(
      fromEnvironment: settings(of: front).merging(["BROKER_ADDRESS_FAMILY": "v4"]) { $1 })
    _ = try await produce([Record(topic, key: "alice", "hello")], configuration)
    let read = try await read(1, from: beginnings(topic), configuration)
    #expect(read.map { text($0.value) } == ["hello"])
  }

  @Test func `is refused when another authority signed, and the setting is named`() async throws {
    let front = try await TLSFront(of: broker)
    let stranger = try await TLSFront(of: broker)
    var settings = settings(of: front)
    settings["SSL_CA_LOCATION"] = stranger.authority
    let error = try await fault(settings)
    #expect(error?.code == .tls, "\(String(describing: error))")
    #expect(error?.reason.contains("KAFKA_SSL_CA_LOCATION") == true, "\(String(describing: error))")
  }

  @Test func `that was refused stays the cause when the connection breaks after it`() async throws {
    let stranger = try await TLSFront(of: broker)
    var front: TLSFront? = try await TLSFront(of: broker)
    var settings = try settings(of: #require(front))
    settings["SSL_CA_LOCATION"] = stranger.authority
    settings["BROKER_ADDRESS_FAMILY"] = "v4"
    let admin = try newAdmin(ClientConfiguration(fromEnvironment: settings))
    guard case .failure(let refusal) = await topics(admin) else {
      Issue.record("taken by a stranger's authority")
      return
    }
    #expect(refusal.code == .tls)
    front = nil
    try await Task.sleep(for: .seconds(1))
    guard case .failure(let since) = await topics(admin) else {
      Issue.record("an answer by nobody")
      return
    }
    #expect(since.code == .tls, "\(since)")
    await admin.close()
  }

  @Test func `is refused when its certificate names another host, and the setting is named`()
    async throws
  {
    let front = try await TLSFront(of: broker, host: "kafka.example.com")
    let error = try await fault(settings(of: front))
    #expect(error?.code == .tls, "\(String(describing: error))")
    #expect(
      error?.reason.contains("KAFKA_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM") == true,
      "\(String(describing: error))")
  }

  @Test func `that asks for certificates takes ours, and says so when there is none`() async throws
  {
    let front = try await TLSFront(of: broker, wantsCertificates: true)
    var settings = settings(of: front)
    let error = try await fault(settings)
    #expect(
      error?.reason.contains("certificate required") == true, "\(String(describing: error))")
    settings["SSL_CERTIFICATE_LOCATION"] = front.clientCertificate
    settings["SSL_KEY_LOCATION"] = front.clientKey
    #expect(try await fault(settings) == nil)
  }

  @Test func `lets in who knows the password, and nobody else; no word shows it`() async throws {
    let front = try await TLSFront(of: broker, user: "purser:right-password")
    var settings = settings(of: front)
    settings["SECURITY_PROTOCOL"] = "SASL_SSL"
    settings["SASL_MECHANISM"] = "PLAIN"
    settings["SASL_USERNAME"] = "purser"
    settings["SASL_PASSWORD"] = "right-password"
    #expect(try await fault(settings) == nil)

    settings["SASL_PASSWORD"] = "wrong-password"
    let error = try await fault(settings)
    #expect(error?.code == .authentication)
    #expect(error?.reason.contains("KAFKA_SASL_PASSWORD") == true, "\(String(describing: error))")
    #expect(error?.reason.contains("wrong-password") == false)
  }
}
