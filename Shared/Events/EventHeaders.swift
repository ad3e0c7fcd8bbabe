/// CloudEvents 1.0 metadata in Kafka binary mode, plus W3C trace context.
public struct EventHeaders: Sendable, Equatable {
  /// `ce_id`: the same event keeps its id, however often it is written.
  public var id: String
  /// `ce_type`.
  public var type: EventType
  /// `ce_source`: the service that wrote it, such as `/purser/order-service`.
  public var source: String
  /// `ce_time`: UTC milliseconds; RFC 3339 on the wire.
  public var time: String
  /// `ce_subject`: the entity, such as an order id or a lineage.
  public var subject: String
  /// `traceparent` of the request that began it, if any.
  public var traceparent: String?

  /// Makes metadata; `time` is RFC 3339 in UTC.
  public init(
    id: String, type: EventType, source: String, time: String, subject: String,
    traceparent: String? = nil
  ) {
    self.id = id
    self.type = type
    self.source = source
    self.time = time
    self.subject = subject
    self.traceparent = traceparent
  }

  /// The headers as they stand in a record.
  public var pairs: [(name: String, value: String)] {
    var pairs: [(name: String, value: String)] = []
    pairs.reserveCapacity(8)
    pairs.append((name: "ce_specversion", value: "1.0"))
    pairs.append((name: "ce_id", value: id))
    pairs.append((name: "ce_type", value: type.rawValue))
    pairs.append((name: "ce_source", value: source))
    pairs.append((name: "ce_time", value: time))
    pairs.append((name: "ce_subject", value: subject))
    pairs.append((name: "content-type", value: "application/json"))
    if let traceparent { pairs.append((name: "traceparent", value: traceparent)) }
    return pairs
  }

  /// Reads the headers of a record; nil when `ce_id` or `ce_type` is missing.
  public init?(pairs: some Sequence<(name: String, value: String)>) {
    var found: [String: String] = [:]
    for pair in pairs { found[pair.name] = pair.value }
    guard let id = found["ce_id"], let type = found["ce_type"] else { return nil }
    self.init(
      id: id, type: EventType(rawValue: type), source: found["ce_source"] ?? "",
      time: found["ce_time"] ?? "", subject: found["ce_subject"] ?? "",
      traceparent: found["traceparent"])
  }
}
