import CRdkafka

/// A fault that librdkafka or a broker reported.
public struct KafkaError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What happened, as Kafka's protocol or librdkafka numbers it.
  public let code: KafkaErrorCode
  /// What happened, where, and what to do; never a secret.
  public let reason: String
  /// Whether the client that reported it is of no more use and must be replaced by a new one.
  public let isFatal: Bool
  /// Whether the same request may succeed later: with this client, or with a new one if `isFatal`.
  ///
  /// False only where Kafka refuses the request for good.
  public let isRetriable: Bool

  /// Makes an error; `isRetriable` follows from the code.
  public init(code: KafkaErrorCode, reason: String, isFatal: Bool = false) {
    self.code = code
    self.reason = reason
    self.isFatal = isFatal
    self.isRetriable = isFatal || !KafkaErrorCode.final.contains(code)
  }

  init(_ code: rd_kafka_resp_err_t, _ context: String) {
    let code = KafkaErrorCode(rawValue: code.rawValue)
    self.init(code: code, reason: "\(context): \(code.explanation)")
  }

  /// Takes over an `rd_kafka_error_t` and destroys it.
  init(consuming error: OpaquePointer, _ context: String) {
    let code = unsafe KafkaErrorCode(rawValue: rd_kafka_error_code(error).rawValue)
    let text = unsafe text(rd_kafka_error_string(error)) ?? code.explanation
    let isFatal = unsafe rd_kafka_error_is_fatal(error) != 0
    unsafe rd_kafka_error_destroy(error)
    self.init(code: code, reason: "\(context): \(text)", isFatal: isFatal)
  }

  /// The reason and the code's name.
  public var description: String { "\(reason) [\(code.name)]" }
}

/// The number of a fault: positive from a broker, negative from librdkafka itself.
public struct KafkaErrorCode: RawRepresentable, Sendable, Hashable {
  /// The value of `rd_kafka_resp_err_t`.
  public let rawValue: Int32

  /// Wraps a value of `rd_kafka_resp_err_t`.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  private init(_ code: rd_kafka_resp_err_t) { rawValue = code.rawValue }

  /// The producer's queue is full: wait for reports, then go on.
  public static let queueFull = KafkaErrorCode(RD_KAFKA_RESP_ERR__QUEUE_FULL)
  /// The client was closed.
  public static let closed = KafkaErrorCode(RD_KAFKA_RESP_ERR__DESTROY)
  /// The producer was closed before the record was sent.
  public static let purgedInQueue = KafkaErrorCode(RD_KAFKA_RESP_ERR__PURGE_QUEUE)
  /// The producer was closed while the record was under way: it may have arrived.
  public static let purgedInFlight = KafkaErrorCode(RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
  /// An idempotent producer can no longer promise order and uniqueness.
  public static let fatal = KafkaErrorCode(RD_KAFKA_RESP_ERR__FATAL)
  /// No answer came in time.
  public static let timedOut = KafkaErrorCode(RD_KAFKA_RESP_ERR__TIMED_OUT)
  /// The broker says that its own work took too long.
  public static let requestTimedOut = KafkaErrorCode(RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT)
  /// The connection to a broker failed.
  public static let transport = KafkaErrorCode(RD_KAFKA_RESP_ERR__TRANSPORT)
  /// No broker can be reached.
  public static let allBrokersDown = KafkaErrorCode(RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN)
  /// An argument was wrong.
  public static let invalidArgument = KafkaErrorCode(RD_KAFKA_RESP_ERR__INVALID_ARG)
  /// The topic does not exist, as the client found.
  public static let unknownTopic = KafkaErrorCode(RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC)
  /// The partition does not exist, as the client found.
  public static let unknownPartition = KafkaErrorCode(RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION)
  /// The topic or partition does not exist, as the broker says.
  public static let unknownTopicOrPartition = KafkaErrorCode(
    RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
  /// The position to read from is not in the log: before its beginning or beyond its end.
  public static let positionOutOfRange = KafkaErrorCode(RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
  /// The same, as the broker says it.
  public static let offsetOutOfRange = KafkaErrorCode(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE)
  /// The record is larger than the producer or the topic allows.
  public static let recordTooLarge = KafkaErrorCode(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
  /// The topic exists already.
  public static let topicAlreadyExists = KafkaErrorCode(RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
  /// The broker does not let this client touch the topic.
  public static let topicAuthorizationFailed = KafkaErrorCode(
    RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)

  /// The broker is not, or no longer, the partition's leader.
  public static let notLeader = KafkaErrorCode(RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION)
  /// A leader is being chosen.
  public static let leaderNotAvailable = KafkaErrorCode(RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
  /// Too few copies of the partition are alive to take a record.
  public static let notEnoughReplicas = KafkaErrorCode(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS)
  /// The group's coordinator is not known yet.
  public static let coordinatorNotAvailable = KafkaErrorCode(
    RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE)
  /// The broker is not, or no longer, the group's coordinator.
  public static let notCoordinator = KafkaErrorCode(RD_KAFKA_RESP_ERR_NOT_COORDINATOR)
  /// An idempotent producer's record does not follow the one before it.
  public static let outOfOrderSequence = KafkaErrorCode(
    RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER)
  /// A broker and we could not agree on TLS: mostly a certificate that we cannot trust.
  public static let tls = KafkaErrorCode(RD_KAFKA_RESP_ERR__SSL)
  /// The broker does not let this user in.
  public static let authentication = KafkaErrorCode(RD_KAFKA_RESP_ERR__AUTHENTICATION)
  /// The broker does not have this kind of request.
  public static let unsupportedFeature = KafkaErrorCode(RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE)
  /// The broker does not let this client ask that of the cluster.
  public static let clusterAuthorizationFailed = KafkaErrorCode(
    RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED)

  /// Faults that stay, however often the same request is made.
  ///
  /// Absent on purpose: what an operator can mend while a record waits (missing topics and rights).
  static let final: Set<KafkaErrorCode> = [
    invalidArgument, positionOutOfRange, offsetOutOfRange, recordTooLarge, topicAlreadyExists,
    KafkaErrorCode(RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_INVALID_RECORD),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_UNSUPPORTED_FOR_MESSAGE_FORMAT),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_UNSUPPORTED_VERSION),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_INVALID_PARTITIONS),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_INVALID_REPLICATION_FACTOR),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_INVALID_CONFIG),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_INVALID_REQUEST),
    KafkaErrorCode(RD_KAFKA_RESP_ERR_POLICY_VIOLATION),
    KafkaErrorCode(RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE),
    KafkaErrorCode(RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED),
  ]

  /// Which settings to look at where a broker and we cannot come together; nil for all other codes.
  var advice: String? {
    switch self {
    case .tls:
      "KAFKA_SSL_CA_LOCATION must hold the authority that signed the broker's certificate, and the "
        + "certificate must name the host by which KAFKA_BOOTSTRAP_SERVERS and the broker itself call it "
        + "(KAFKA_SSL_ENDPOINT_IDENTIFICATION_ALGORITHM)"
    case .authentication:
      "look at KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD"
    default: nil
    }
  }

  static let none = KafkaErrorCode(RD_KAFKA_RESP_ERR_NO_ERROR)

  /// The symbolic name, such as `_QUEUE_FULL`.
  public var name: String {
    unsafe text(rd_kafka_err2name(rd_kafka_resp_err_t(rawValue: rawValue))) ?? "\(rawValue)"
  }

  var explanation: String {
    unsafe text(rd_kafka_err2str(rd_kafka_resp_err_t(rawValue: rawValue))) ?? "\(rawValue)"
  }
}

/// Copies a C text; nil for a null pointer.
func text(_ pointer: UnsafePointer<CChar>?) -> String? {
  guard let pointer = unsafe pointer else { return nil }
  return unsafe String(cString: pointer)
}
