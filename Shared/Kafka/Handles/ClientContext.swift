import CRdkafka
import ServiceRuntime
import Synchronization

/// What the callbacks of a client need; librdkafka carries it as the client's opaque.
final class ClientContext: Sendable {
  let name: String
  let log: Log
  let deliveries: DeliveryCounters
  let commits: CommitBook
  private let errors: Counter
  private let fatalError = Mutex<KafkaError?>(nil)
  private let lastFault = Mutex<KafkaError?>(nil)

  init(name: String, log: Log, metrics: Metrics) {
    self.name = name
    self.log = log
    deliveries = DeliveryCounters(client: name, metrics)
    commits = CommitBook(client: name, metrics)
    errors = metrics.counter(
      "kafka_client_errors_total", "Faults that librdkafka reported outside of any request.",
      labels: ["client": name])
  }

  /// The fault that made the client useless, once there is one.
  var fatal: KafkaError? { fatalError.withLock { $0 } }

  /// What came between the client and a broker last, or what named settings to look at; nil once a broker
  /// has answered.
  ///
  /// librdkafka tries again for ever, and tells whoever asks it only that there was no answer.
  var fault: KafkaError? { lastFault.withLock { $0 } }

  /// A broker has answered.
  func answered() { lastFault.withLock { $0 = nil } }

  /// Installs the callbacks, all of which run inside a poll of ours.
  ///
  /// Closures without captures in a nonisolated function: a callback made in main-actor code would
  /// end the process on a foreign thread.
  func install(in configuration: OpaquePointer) {
    unsafe rd_kafka_conf_set_log_cb(configuration) { handle, level, facility, message in
      guard let opaque = unsafe rd_kafka_opaque(handle) else { return }
      unsafe ClientContext.from(opaque).heard(level, facility, message)
    }
    unsafe rd_kafka_conf_set_error_cb(configuration) { handle, code, reason, opaque in
      guard let opaque = unsafe opaque, let handle = unsafe handle else { return }
      unsafe ClientContext.from(opaque).failed(handle, rd_kafka_resp_err_t(code), reason)
    }
  }

  static func from(_ opaque: UnsafeMutableRawPointer) -> ClientContext {
    unsafe Unmanaged<ClientContext>.fromOpaque(opaque).takeUnretainedValue()
  }

  private func heard(
    _ level: CInt, _ facility: UnsafePointer<CChar>?, _ message: UnsafePointer<CChar>?
  ) {
    let fields: [String: LogValue] = [
      "client": .string(name),
      "facility": .string(unsafe text(facility) ?? ""),
      "detail": .string(unsafe text(message) ?? ""),
    ]
    // Levels of syslog. A lost connection comes as 3 (error), though the library reconnects by
    // itself: for us that is a warning.
    switch level {
    case ...2: log.error("the kafka client has a grave fault", fields)
    case 3...4: log.warning("the kafka client warns", fields)
    case 5...6: log.info("the kafka client reports", fields)
    default: log.debug("the kafka client says", fields)
    }
  }

  private func failed(
    _ handle: OpaquePointer, _ code: rd_kafka_resp_err_t, _ reason: UnsafePointer<CChar>?
  ) {
    errors.add()
    if code == RD_KAFKA_RESP_ERR__FATAL {
      unsafe noteFatal(handle)
      return
    }
    var fields: [String: LogValue] = ["client": .string(name)]
    let detail = unsafe text(reason) ?? ""
    fields["detail"] = .string(detail)
    let code = KafkaErrorCode(rawValue: code.rawValue)
    if let advice = code.advice { fields["advice"] = .string(advice) }
    // That all brokers are away only follows from what was said of each.
    if code != .allBrokersDown {
      let reason = code.advice.map { "\(detail): \($0)" } ?? detail
      lastFault.withLock { last in
        // A connection that breaks after a refusal says less than the refusal.
        guard code.advice != nil || last?.code.advice == nil else { return }
        last = KafkaError(code: code, reason: reason)
      }
    }
    log.warning("the kafka client lost a broker or met a fault", fields)
  }

  /// Asks librdkafka for its fatal error and keeps the first.
  @discardableResult
  func noteFatal(_ handle: OpaquePointer) -> KafkaError? {
    let size = 512
    let found: KafkaError? = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) {
      buffer in
      unsafe buffer.initialize(repeating: 0)
      let code = unsafe rd_kafka_fatal_error(handle, buffer.baseAddress, size)
      guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return nil }
      let reason = unsafe text(buffer.baseAddress) ?? ""
      return KafkaError(
        code: KafkaErrorCode(rawValue: code.rawValue),
        reason: "Kafka client \(name) can go on no longer and must be replaced: \(reason)",
        isFatal: true)
    }
    guard let found else { return nil }
    let isNew = fatalError.withLock { fatal in
      guard fatal == nil else { return false }
      fatal = found
      return true
    }
    if isNew {
      log.error(
        "the kafka client must be replaced", ["client": .string(name), "error": .init(found)])
    }
    return found
  }
}
