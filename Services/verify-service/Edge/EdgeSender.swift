import Kafka
import ServiceRuntime
import Synchronization

/// Sends single records and waits for the broker, bounded in number and time.
///
/// A record whose wait ran out may still be delivered later; Apple sends it again, and the ledger
/// finds the duplicate.
final class EdgeSender: Sendable {
  private let producer: Producer
  private let limit: Int
  private let inFlight = Atomic<Int>(0)

  init(_ producer: Producer, limit: Int, metrics: Metrics) {
    self.producer = producer
    self.limit = limit
    metrics.reading("edge_in_flight", "Notifications that wait for the broker.") { [weak self] in
      self?.inFlight.load(ordering: .relaxed) ?? 0
    }
  }

  var isUsable: Bool { producer.fatalError == nil }

  func send(_ record: Record, atMost duration: Duration) async -> DeliveryResult {
    guard inFlight.load(ordering: .relaxed) < limit else {
      return .failure(
        KafkaError(code: .queueFull, reason: "\(limit) notifications wait for the broker already"))
    }
    inFlight.wrappingAdd(1, ordering: .relaxed)
    let completion = Completion<DeliveryResult>()
    do {
      try producer.enqueue(record) { [self] result in
        inFlight.wrappingSubtract(1, ordering: .relaxed)
        completion.complete(with: result)
      }
    } catch {
      inFlight.wrappingSubtract(1, ordering: .relaxed)
      return .failure(error)
    }
    let timer = Task {
      try? await Task.sleep(for: duration)
      completion.complete(
        with: .failure(
          KafkaError(code: .timedOut, reason: "no report within \(duration)")))
    }
    defer { timer.cancel() }
    return await completion.value()
  }

  func close(by deadline: Deadline) async { await producer.close(by: deadline) }
}
