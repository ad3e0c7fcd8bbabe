import Kafka
import ServiceRuntime
import Synchronization

/// Sends single records and waits for the broker, bounded in number and time.
///
/// A record whose wait ran out may still be delivered later; Apple sends it again, and the ledger
/// finds the duplicate. A producer that librdkafka declares fatal is replaced by the next record.
final class EdgeSender: Sendable {
  private let producer: Mutex<Producer>
  private let makeProducer: @Sendable () throws -> Producer
  private let limit: Int
  private let inFlight = Atomic<Int>(0)
  private let replaced: Counter

  init(
    limit: Int, metrics: Metrics, makeProducer: @escaping @Sendable () throws -> Producer
  ) throws {
    self.makeProducer = makeProducer
    self.limit = limit
    producer = Mutex(try makeProducer())
    replaced = metrics.counter(
      "edge_producer_replaced_total", "Times the edge's producer was replaced.")
    metrics.reading("edge_in_flight", "Notifications that wait for the broker.") { [weak self] in
      self?.inFlight.load(ordering: .relaxed) ?? 0
    }
  }

  /// Sends a record, and tells what became of it: at once, or from the producer's thread.
  func send(
    _ record: Record, atMost duration: Duration,
    _ report: @escaping @Sendable (DeliveryResult) -> Void
  ) {
    guard inFlight.load(ordering: .relaxed) < limit else {
      return report(
        .failure(
          KafkaError(code: .queueFull, reason: "\(limit) notifications wait for the broker already")
        ))
    }
    inFlight.wrappingAdd(1, ordering: .relaxed)
    let completion = Completion<DeliveryResult>()
    do {
      try usableProducer().enqueue(record) { [self] result in
        inFlight.wrappingSubtract(1, ordering: .relaxed)
        completion.complete(with: result)
      }
    } catch {
      inFlight.wrappingSubtract(1, ordering: .relaxed)
      return report(.failure(error))
    }
    completion.whenDone(
      atMost: duration,
      otherwise: .failure(KafkaError(code: .timedOut, reason: "no report within \(duration)")),
      report)
  }

  /// The producer, or a new one in place of one that is of no more use.
  private func usableProducer() throws(KafkaError) -> Producer {
    do {
      return try producer.withLock { current in
        guard current.fatalError != nil else { return current }
        let old = current
        current = try makeProducer()
        replaced.add()
        // Closing blocks until every outstanding report has fired.
        _ = DedicatedThread(name: "kafka-close") { old.closeAndWait(by: .after(.seconds(1))) }
        return current
      }
    } catch let error as KafkaError {
      throw error
    } catch {
      throw KafkaError(code: .invalidArgument, reason: "no producer: \(error)")
    }
  }

  func close(by deadline: Deadline) async {
    await producer.withLock { $0 }.close(by: deadline)
  }
}
