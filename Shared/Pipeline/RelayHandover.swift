import Kafka
import ServiceRuntime

/// Gives rows of the outbox to one producer, in order, and notes what becomes of each.
///
/// Used by whoever has the turn: the thread `relay`, or while that has nothing to do the writer's
/// thread (`OutboxSignal.openLine`).
struct RelayHandover: Sendable {
  enum Given: Sendable {
    /// The row is with the producer, or is known to be delivered.
    case given
    /// The producer has no room for it.
    case noRoom
    /// It or the producer is of no use; the thread `relay` was woken.
    case failed
  }

  let producer: Producer
  let tracker: DeliveryTracker
  let metrics: RelayMetrics
  let context: StoreContext
  let clock: any WallClock

  /// Hands the next row over.
  func give(_ row: Outbox.Row) -> Given {
    guard tracker.give(row.id) else { return .given }
    let given = hand(row, alone: false)
    if given == .noRoom { tracker.takeBackLast() }
    return given
  }

  /// Hands a row over once more, alone, that was refused in a batch.
  func retry(_ row: Outbox.Row, _ refusal: DeliveryTracker.Refusal) {
    tracker.retries(row.id)
    if hand(row, alone: true) == .noRoom { tracker.refused(refusal) }
  }

  private func hand(_ row: Outbox.Row, alone: Bool) -> Given {
    let (id, tracker, metrics, wake) = (row.id, tracker, metrics, context.outbox.wake)
    @Sendable func fault(_ error: KafkaError, isCertain: Bool) {
      if error.isRetriable || error.isFatal {
        tracker.failed(error)
      } else {
        tracker.refused(.init(id: id, error: error, isCertain: isCertain))
      }
      wake.signal()
    }
    guard let record = row.record else {
      fault(
        KafkaError(
          code: .invalidArgument, reason: "the headers of outbox row \(id) cannot be read"),
        isCertain: true)
      return .failed
    }
    let (span, tracer) = (span(of: record), context.tracer)
    let (way, clock) = (WayStart(of: row), clock)
    do throws(KafkaError) {
      try producer.enqueue(record) { result in
        if var span {
          if case .failure = result { span.hasFailed = true }
          tracer.end(span)
        }
        switch result {
        case .success:
          metrics.delivered.add()
          if let way { metrics.way.arrived(way, on: record.topic, at: clock.now()) }
          if tracker.delivered(id) { wake.signal() }
        case .failure(let error): fault(error, isCertain: alone)
        }
      }
      return .given
    } catch {
      if error.code == .queueFull { return .noRoom }
      fault(error, isCertain: true)
      return .failed
    }
  }

  /// From here to the broker's word, as a step in the trace of what the record tells.
  private func span(of record: Record) -> Span? {
    guard context.tracer.isOn,
      let header = record.headers.first(where: { $0.name == "traceparent" }),
      let parent = TraceContext(traceparent: String(decoding: header.value, as: UTF8.self))
    else { return nil }
    return context.tracer.begin(
      "send \(record.topic)", .producer, parent: parent,
      attributes: [
        ("messaging.system", "kafka"), ("messaging.operation.type", "send"),
        ("messaging.destination.name", .string(record.topic)),
      ])
  }
}
