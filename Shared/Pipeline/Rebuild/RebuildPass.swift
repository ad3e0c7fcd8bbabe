public import Events
public import Kafka
import ServiceRuntime
import SQLite

/// Reading topics from their beginning into the new store.
extension Rebuild {
  /// How far a pass reads.
  public enum Limit: Sendable {
    /// To where the logs ended at the start.
    case end
    /// To the positions that were set, without: what comes later is the service's to read.
    case position
  }

  /// Records of a batch, and so of a COMMIT.
  private static var batch: Int { 2000 }
  private static var silence: Duration { .seconds(60) }

  /// Reads topics, partition by partition in order, and writes what each record gives.
  ///
  /// Blocks. A record that cannot be decoded is left out with a warning: the service made it a dead
  /// letter, or never wrote it.
  ///
  /// - Parameters:
  ///   - topics: What is read.
  ///   - limit: How far.
  ///   - isWhole: Whether the partitions of other shards are read too, those to their ends.
  ///   - isRepeated: Whether whoever goes on with a rebuild reads them again, as what they gave is not in
  ///     the store.
  ///   - prepare: Decodes a record, off the writer; nil when it gives nothing.
  public func read(
    _ topics: [Topic], to limit: Limit, whole isWhole: Bool = false,
    again isRepeated: Bool = false, _ prepare: (ReceivedRecord) throws -> RecordWork?
  ) throws {
    let isDone = !isRepeated && step < begun.step
    let places =
      !isRepeated && step == begun.step
      ? begun.next.map { [TopicPartition: Int64](noted: $0) } : nil
    defer { if !isRepeated { step += 1 } }
    guard !isDone else { return }
    let names = Set(topics.map(self.topics.name(of:)))
    var next = beginnings.filter {
      names.contains($0.key.topic) && (isWhole || shard.owns($0.key.partition))
    }
    let ends = next.keys.reduce(into: [TopicPartition: Int64]()) { ends, partition in
      let end = self.ends[partition, default: 0]
      let isForeign = positions[partition] == nil && !shard.owns(partition.partition)
      ends[partition] =
        limit == .end || isForeign ? end : min(end, positions[partition, default: 0])
    }
    if let places { next.merge(places.filter { next[$0.key] != nil }) { max($0, $1) } }
    next = next.filter { $0.value < ends[$0.key, default: 0] }
    guard !next.isEmpty else { return }
    let total = next.reduce(0) { $0 + ends[$1.key, default: 0] - $1.value }
    let progress = RebuildProgress(names.sorted().joined(separator: ", "), total: total, log)
    let writing = PassWriter(store)
    try consumer.assign(next)
    var quiet = Deadline.after(Self.silence)
    while let behind = next.first(where: { $0.value < ends[$0.key, default: 0] }) {
      let records = try consumer.poll(maximum: Self.batch, timeout: .milliseconds(500))
      if !records.isEmpty { quiet = .after(Self.silence) }
      guard !quiet.hasPassed else {
        throw RebuildError.silence(
          behind.key, next: behind.value, end: ends[behind.key, default: 0])
      }
      var works: [RecordWork] = []
      works.reserveCapacity(records.count)
      for record in records {
        let partition = record.topicPartition
        guard record.offset < ends[partition, default: 0] else { continue }
        next[partition] = record.offset + 1
        newestSequence = max(newestSequence, ownSequence(record))
        do {
          if let work = try prepare(record) { works.append(work) }
        } catch let fault as Undecodable {
          log.warning(
            "a record cannot be decoded and is left out",
            ["place": .string("\(partition) \(record.offset)"), "error": LogValue(fault)])
        }
      }
      try writing.write(works, noting: note(next: next))
      progress.add(records.count)
    }
    try writing.wait()
    progress.end()
    try consumer.assign([:])
  }

  /// The number of a record that this store's service has published; 0 of others.
  private func ownSequence(_ record: ReceivedRecord) -> Int64 {
    guard record.header("ce_source") == store.context.source, !record.isReplayed else { return 0 }
    return record.sequence ?? 0
  }

  /// Changes the new store once, in a job of its own; blocks.
  public func change(_ body: @escaping @Sendable (Change) throws -> Void) throws {
    try changeInParts(from: true) { change, _ -> Bool? in
      try body(change)
      return nil
    }
  }

  /// Looks at the new store; blocks.
  public func look<Result: Sendable>(
    _ body: @escaping @Sendable (Change) throws -> Result
  ) throws -> Result {
    try store.changeAndWait(body)
  }

  /// Changes the new store part by part, until a part says that it was the last; blocks.
  ///
  /// - Parameter body: One part, which gets what the one before it answered; nil ends.
  public func changeInParts<Cursor: Sendable & Codable>(
    from first: Cursor, _ body: @escaping @Sendable (Change, Cursor) throws -> Cursor?
  ) throws {
    defer { step += 1 }
    guard step >= begun.step else { return }
    let known = step == begun.step ? begun.cursor : nil
    var cursor: Cursor? =
      try known.map { try EventJSON.decode([Cursor].self, from: $0)[0] } ?? first
    let noted = note()
    var parts: Int64 = 0
    var next = Deadline.after(.seconds(5))
    while let place = cursor {
      cursor = try store.changeAndWait { change in
        let next = try body(change, place)
        var note = noted
        note.cursor = try next.map { try EventJSON.encode([$0]) }
        if next == nil { note.step += 1 }
        try note.save(change.transaction)
        return next
      }
      parts += 1
      guard next.hasPassed else { continue }
      next = .after(.seconds(5))
      log.info("computing", ["parts": LogValue(parts)])
    }
  }
}

/// Writes one batch while the next one is decoded.
private final class PassWriter {
  private let store: Store
  private var underWay: Completion<Result<Void, any Error>>?

  init(_ store: Store) { self.store = store }

  func write(_ works: [RecordWork], noting note: RebuildNote) throws {
    try wait()
    guard !works.isEmpty else { return }
    let done = Completion<Result<Void, any Error>>()
    let (clock, context) = (store.clock, store.context)
    store.writer.submit(
      { transaction in
        let change = Change(transaction: transaction, now: clock.now(), context: context)
        for work in works { try work(change) }
        try note.save(transaction)
      }, answer: { done.complete(with: $0) })
    underWay = done
  }

  func wait() throws {
    let answer = underWay?.wait()
    underWay = nil
    try answer?.get()
  }
}

/// Says every few seconds how far a pass is.
private final class RebuildProgress {
  private let what: String
  private let total: Int64
  private let log: Log
  private let began = ContinuousClock.now
  private var done: Int64 = 0
  private var next = Deadline.after(.seconds(5))

  init(_ what: String, total: Int64, _ log: Log) {
    self.what = what
    self.total = total
    self.log = log
  }

  func add(_ count: Int) {
    done += Int64(count)
    guard next.hasPassed else { return }
    next = .after(.seconds(5))
    tell("reading")
  }

  func end() { tell("read") }

  private func tell(_ word: StaticString) {
    let seconds = max(0.001, (ContinuousClock.now - began) / Duration.seconds(1))
    let rate = Double(done) / seconds
    let left = rate > 0 ? Double(max(0, total - done)) / rate : 0
    log.info(
      word,
      [
        "topics": .string(what), "records": LogValue(done), "of": LogValue(total),
        "perSecond": LogValue(Int(rate)), "secondsLeft": LogValue(Int(left)),
      ])
  }
}
