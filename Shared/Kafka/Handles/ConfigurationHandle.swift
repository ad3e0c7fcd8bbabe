import CRdkafka

/// Owns one `rd_kafka_conf_t`.
@safe final class ConfigurationHandle {
  private var handle: OpaquePointer?

  init() { unsafe handle = rd_kafka_conf_new() }

  deinit {
    if let handle = unsafe handle { unsafe rd_kafka_conf_destroy(handle) }
  }

  /// Lets a closure use the pointer, which may not escape.
  func withPointer<R>(_ body: (OpaquePointer) -> R) -> R? {
    guard let handle = unsafe handle else { return nil }
    return unsafe body(handle)
  }

  /// Gives the pointer up to `rd_kafka_new`, which owns it from its success on.
  func release() { unsafe handle = nil }

  /// Sets a property.
  ///
  /// - Throws: What librdkafka says; the value of a secret is not shown.
  func set(_ property: String, _ value: String) throws(KafkaError) {
    guard let problem = problem(property, value) else { return }
    throw KafkaError(code: .invalidArgument, reason: "Kafka property \(property) \(problem)")
  }

  /// What librdkafka dislikes about a property; nil when nothing.
  static func problem(_ property: String, _ value: String) -> String? {
    ConfigurationHandle().problem(property, value)
  }

  private func problem(_ property: String, _ value: String) -> String? {
    let size = 512
    return unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: size) { buffer in
      unsafe buffer.initialize(repeating: 0)
      let result = unsafe rd_kafka_conf_set(handle, property, value, buffer.baseAddress, size)
      switch result {
      case RD_KAFKA_CONF_OK: return nil
      case RD_KAFKA_CONF_UNKNOWN:
        return "is no property that librdkafka knows; see its CONFIGURATION.md"
      default:
        guard !ReservedProperties.isSecret(property) else {
          return "has a value that librdkafka refuses (not shown, as it may be secret)"
        }
        return unsafe "is refused: \(text(buffer.baseAddress) ?? "no reason given")"
      }
    }
  }
}
