import Events
import Kafka
import ServiceRuntime

/// Puts letters back through the door that they came by, or closes them, and leaves a note of either.
///
/// The note is written after the broker has the record. Whoever is killed between writes the record
/// again the next time, which the readers' own counters make harmless.
struct LetterOffice {
  /// How often a record may be put back; more needs `--force`.
  static let maximumRetries = 3
  /// So many records are under way at a time.
  private static let batch = 500

  let configuration: ClientConfiguration
  let names: TopicNames
  let clock: any WallClock

  /// Why a letter cannot be put back; nil when it can.
  func objection(to letter: DeadLetter, force: Bool) -> String? {
    guard let topic = letter.originTopic.flatMap(names.topic(named:)), topic != .deadLetters else {
      return "it does not say which topic of ours it came from; discard it"
    }
    if topic.cleanup == .compact, StateLetters.sequence(letter.original.headers) == nil {
      return
        "it does not say which state of its customer it is, and an old one could hide a newer one; "
        + "the customer's next change publishes it whole; discard it"
    }
    if !letter.leftOut.isEmpty && letter.originOffset == nil {
      return "its \(letter.leftOut.joined(separator: ", ")) stands nowhere; discard it"
    }
    if letter.retries >= Self.maximumRetries && !force {
      return "it was put back \(letter.retries) times already and failed again; "
        + "--force puts it back all the same"
    }
    return nil
  }

  /// Writes the originals to their topics, and behind each letter that it was retried; blocks.
  ///
  /// A record that several services gave up goes back once. A state of a customer goes back only where no
  /// newer one stands; otherwise its letter says so.
  func retry(_ letters: [DeadLetter], because: String) throws {
    func isState(_ letter: DeadLetter) -> Bool {
      letter.originTopic.flatMap(names.topic(named:)) == .entitlementState
    }
    var putBack: Set<String> = []
    try write(letters.filter { !isState($0) }, .retried, because: because) { letter in
      if let topic = letter.originTopic, let partition = letter.originPartition,
        let offset = letter.originOffset,
        !putBack.insert("\(topic)/\(partition)/\(offset)").inserted
      {
        return nil
      }
      return try original(letter)
    }
    let states = letters.filter(isState)
    guard !states.isEmpty else { return }
    var overtaken: Set<LetterPlace> = []
    try withProducer { producer in
      overtaken = try StateLetters(configuration: configuration, names: names).retry(
        states, original: original
      ) { try send($0, producer) }
    }
    try write(
      states.filter { !overtaken.contains($0.place) }, .retried, because: because, { _ in nil })
    try write(
      states.filter { overtaken.contains($0.place) }, .retried,
      because: [because, "nothing was written: this state or a newer one stands on the topic"]
        .filter { !$0.isEmpty }.joined(separator: "; "), { _ in nil })
  }

  private func original(_ letter: DeadLetter) throws -> Record {
    var record = try whole(letter)
    record.headers.removeAll { $0.name == DeadLetter.retriesHeader }
    record.headers.append(Header(name: DeadLetter.retriesHeader, text: "\(letter.retries + 1)"))
    return record
  }

  /// Writes behind each letter that it was discarded; the letter stays; blocks.
  func discard(_ letters: [DeadLetter], because: String) throws {
    try write(letters, .discarded, because: because) { _ in nil }
  }

  private func write(
    _ letters: [DeadLetter], _ kind: LetterDecision.Kind, because: String,
    _ original: (DeadLetter) throws -> Record?
  ) throws {
    guard !letters.isEmpty else { return }
    try withProducer { producer in
      for start in stride(from: 0, to: letters.count, by: Self.batch) {
        let some = letters[start..<min(start + Self.batch, letters.count)]
        try send(some.compactMap(original), producer)
        let now = clock.now()
        try send(
          some.map { letter in
            LetterDecision(kind, letter.place, because: because, at: now).record(for: letter)
          }, producer)
      }
    }
  }

  private func withProducer(_ body: (Producer) throws -> Void) throws {
    let producer = try Producer(
      configuration, name: "purser-dead-letters", log: .complaints, metrics: Metrics())
    defer { producer.closeAndWait(by: .after(.seconds(10))) }
    try body(producer)
  }

  private func send(_ records: [Record], _ producer: Producer) throws {
    let done = Completion<[DeliveryResult]>()
    Task { done.complete(with: await producer.send(records)) }
    for result in done.wait() {
      do {
        _ = try result.get()
      } catch {
        throw LetterError.notWritten(error.description)
      }
    }
  }

  /// The original record; what a letter had no room for is read at its origin.
  private func whole(_ letter: DeadLetter) throws -> Record {
    let original = letter.original
    guard !letter.leftOut.isEmpty, let topic = letter.originTopic,
      let partition = letter.originPartition, let offset = letter.originOffset
    else { return original }
    let found = try TopicReading.record(
      topic, partition, offset, names: names, configuration: configuration)
    guard let found, found.offset == offset else {
      throw LetterError.notWritten("\(topic) has no record at \(partition):\(offset) any more")
    }
    return Record(
      topic: topic, key: found.key, value: found.value, headers: found.headers,
      partition: partition)
  }
}
