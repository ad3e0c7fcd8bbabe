/// The properties of librdkafka that Purser sets itself, each with the reason.
enum ReservedProperties {
  /// Why a property may not be set; nil when it may.
  static func reason(for property: String) -> String? {
    if property.hasPrefix("group.") {
      return "partitions are assigned by shard, so Purser never joins a group"
    }
    if property.hasPrefix("test.") { return "it is for tests of librdkafka" }
    return reasons[property]
  }

  private static let acknowledgement =
    "an answer is given only after all in-sync replicas have the record"
  private static let idempotence = "records must arrive once and in order"
  private static let waiting = "a record waits for the broker as long as it takes"
  private static let linger =
    "records leave at once, as an order waits for its event; only an edge's wait for each other"
  private static let size = "records are limited to 2 MiB by Purser at producer and topic"
  private static let bound = "Purser bounds its queues itself"
  private static let positions = "positions are kept in the service's own store"
  private static let beyond = "a position that the log does not have must stop the service"
  private static let groups = "Purser never joins a group"
  private static let reports = "every record needs its report"

  private static let reasons: [String: String] = [
    "acks": acknowledgement,
    "request.required.acks": acknowledgement,
    "enable.idempotence": idempotence,
    "enable.gapless.guarantee": idempotence,
    "max.in.flight": idempotence,
    "max.in.flight.requests.per.connection": idempotence,
    "retries": idempotence,
    "message.send.max.retries": idempotence,
    "queuing.strategy": idempotence,
    "transactional.id": "the outbox of the service takes the place of Kafka's transactions",
    "transaction.timeout.ms": "the outbox of the service takes the place of Kafka's transactions",
    "message.timeout.ms": waiting,
    "delivery.timeout.ms": waiting,
    "linger.ms": linger,
    "queue.buffering.max.ms": linger,
    "partitioner": "keys must go to the partition that Java clients choose (murmur2)",
    "message.max.bytes": size,
    "fetch.message.max.bytes": size,
    "fetch.max.bytes": bound,
    "max.partition.fetch.bytes": size,
    "queue.buffering.max.messages": bound,
    "queue.buffering.max.kbytes": bound,
    "queued.min.messages": bound,
    "queued.max.messages.kbytes": bound,
    "delivery.report.only.error": reports,
    "produce.offset.report": reports,
    "auto.offset.reset": beyond,
    "enable.auto.commit": positions,
    "auto.commit.enable": positions,
    "auto.commit.interval.ms": positions,
    "enable.auto.offset.store": positions,
    "offset.store.method": positions,
    "offset.store.path": positions,
    "offset.store.sync.interval.ms": positions,
    "partition.assignment.strategy": groups,
    "session.timeout.ms": groups,
    "heartbeat.interval.ms": groups,
    "max.poll.interval.ms": groups,
    "enable.partition.eof": "Purser asks the broker where a log ends",
    "allow.auto.create.topics": "topics are made with their settings by `purser topics`",
    "log.queue": "the library's log lines go through Purser's log",
    "plugin.library.paths": "Purser loads no code at run time",
  ]

  /// Whether the value of a property must never be shown.
  static func isSecret(_ property: String) -> Bool {
    property.contains("password") || property.contains("secret") || property.contains("key.pem")
      || property == "sasl.oauthbearer.config" || property == "sasl.username"
  }
}
