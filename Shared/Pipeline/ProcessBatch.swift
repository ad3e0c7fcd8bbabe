import Events
import Kafka
import SQLite
import ServiceRuntime

/// How batches become changes of the store.
extension Processor {
  /// Decodes and applies a batch, as often as it takes; the outbox id after it, or nil when stopping.
  ///
  /// A store or disk error stops the reading, not the process: nothing was changed, and the same
  /// batch is tried again.
  func process(
    _ records: [(record: ReceivedRecord, waitingID: Int64?)], _ skipped: inout SkippedPositions
  ) throws -> Int64? {
    let (log, before) = (log, skipped.positions)
    var hasFailed = false
    while true {
      let began = ContinuousClock.now
      do {
        let batch = Batch(entries: try records.map { try decode($0.record, $0.waitingID) })
        let result: Batch.Result
        if batch.changesNothing {
          result = Batch.Result(
            records: records.count, handled: records.count,
            outboxID: store.context.outbox.newestID)
          skipped.add(batch.positions)
        } else {
          result = try store.changeAndWait { change in
            try batch.apply(change, after: before, log: log)
          }
          skipped.clear()
        }
        progress.advance(batch.positions)
        metrics.count(result, took: ContinuousClock.now - began)
        for case let span? in batch.entries.map(\.span) { store.context.tracer.end(span) }
        if hasFailed { log.info("the store takes batches again") }
        return result.outboxID
      } catch is WriterBusy {
        metrics.storeFailures.add()
        pause(.milliseconds(10))
      } catch let error as WriterClosed {
        throw error
      } catch {
        metrics.storeFailures.add()
        hasFailed = true
        log.error("the store failed; the batch is tried again", ["error": LogValue(error)])
        pause(.milliseconds(500))
      }
      if isStopping { return nil }
    }
  }

  /// Decodes a record off the writer; throws only what is a fault of the store.
  private func decode(_ record: ReceivedRecord, _ waitingID: Int64?) throws -> Batch.Entry {
    let parent = record.header("traceparent").flatMap { TraceContext(traceparent: $0) }
    let span = parent.flatMap { self.span(of: record, in: $0) }
    let trace = span?.context ?? parent
    var content = Batch.Content.nothing
    if let topic = store.context.topics.topic(named: record.topic), let handler = inputs[topic] {
      do {
        let work = try TraceContext.$current.withValue(trace) { try handler.prepare(record) }
        if let work { content = .work(work) }
      } catch let fault as Undecodable {
        content = .undecodable(fault)
      } catch  where Self.mayPass(error) {
        throw error
      } catch {
        // The handler's own fault: the writer's job makes it a dead letter.
        content = .work({ _ in throw error })
      }
    }
    return Batch.Entry(
      record: record, content: content, waitingID: waitingID, span: span, trace: trace)
  }

  /// Names by OpenTelemetry's semantic conventions for Kafka.
  private func span(of record: ReceivedRecord, in parent: TraceContext) -> Span? {
    store.context.tracer.begin(
      "process \(record.topic)", .consumer, parent: parent,
      attributes: [
        ("messaging.system", "kafka"), ("messaging.operation.type", "process"),
        ("messaging.destination.name", .string(record.topic)),
        ("messaging.destination.partition.id", .string("\(record.partition)")),
        ("messaging.kafka.offset", LogValue(record.offset)),
      ])
  }

  /// Tries the records that wait behind a handler's fault, for instance after a mended build.
  func retryWaitingRecords() throws {
    var after: Int64 = 0
    var skipped = SkippedPositions()
    while !isStopping {
      let from = after
      let waiting: [(id: Int64, record: ReceivedRecord)]
      do {
        waiting = try store.readers.readAndWait { reader in
          try WaitingRecords.some(
            reader, after: from, limit: BatchSize.records, bytes: BatchSize.bytes)
        }
      } catch  where Self.mayPass(error) {
        log.error("the waiting records cannot be read; trying again", ["error": LogValue(error)])
        pause(.milliseconds(500))
        continue
      }
      guard let last = waiting.last else { return }
      log.info("trying records that wait", ["count": LogValue(waiting.count)])
      guard try process(waiting.map { ($0.record, $0.id) }, &skipped) != nil else { return }
      after = last.id
    }
  }
}

/// How many records one batch takes: so many, or fewer of large ones.
struct BatchSize {
  /// The most records.
  static let records = 500
  /// About how many bytes of keys and values; the last batch says what to expect.
  static let bytes = 4 * 1024 * 1024

  private(set) var limit = 100

  mutating func learn(from batch: [ReceivedRecord]) {
    let sum = batch.reduce(0) { $0 + ($1.key?.count ?? 0) + ($1.value?.count ?? 0) }
    let average = max(1, sum / max(1, batch.count))
    limit = max(1, min(Self.records, Self.bytes / average))
  }
}
