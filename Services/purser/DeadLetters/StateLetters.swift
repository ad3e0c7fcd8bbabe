import Events
import Kafka
import Pipeline

/// States of customers among the letters: of each key only the newest record stays on a compacted topic, so an
/// old one goes back only where no newer one stands, and never stays behind a newer one.
struct StateLetters {
  /// How often newer states may come while old ones are put back.
  static let maximumRounds = 20

  /// The newest record of a key on the topic.
  struct Newest {
    /// Its place in the line of all that the service has published.
    var sequence: Int64
    /// Whether it is the last record of its key.
    var isLast: Bool
    var record: ReceivedRecord
  }

  let configuration: ClientConfiguration
  let names: TopicNames

  /// The place of a record in the line of its service; nil for one that a stranger has written.
  static func sequence(_ headers: [Header]) -> Int64? {
    headers.first { $0.name == StoreHeaders.sequence }.flatMap { Int64($0.text) }
  }

  /// The newest record of each key; blocks.
  func newest(of keys: Set<[UInt8]>) throws -> [[UInt8]: Newest] {
    let reading = try TopicReading(
      Topic.entitlementState.rawValue, names: names, keeping: keys, configuration: configuration)
    defer { reading.close() }
    try reading.begin(at: .beginning)
    var found: [[UInt8]: Newest] = [:]
    let ending = try reading.read(follows: false) { record in
      guard let key = record.key, keys.contains(key) else { return true }
      let sequence = record.sequence ?? 0
      if sequence >= found[key]?.sequence ?? .min {
        found[key] = Newest(sequence: sequence, isLast: true, record: record)
      } else {
        found[key]?.isLast = false
      }
      return true
    }
    guard ending == .end else { throw LetterError.notReadToTheEnd }
    return found
  }

  /// Puts states back, each unless a newer one stands, and sees to it that the newest one is last; blocks.
  ///
  /// - Returns: The letters behind which a newer state stands.
  func retry(
    _ letters: [DeadLetter], original: (DeadLetter) throws -> Record,
    send: ([Record]) throws -> Void
  ) throws -> Set<LetterPlace> {
    let keys = Set(letters.compactMap(\.record.key))
    let there = try newest(of: keys)
    var overtaken: Set<LetterPlace> = []
    var wanted: [[UInt8]: (sequence: Int64, record: Record)] = [:]
    for letter in letters {
      let record = try original(letter)
      guard let key = record.key, let sequence = Self.sequence(record.headers) else { continue }
      if sequence <= max(there[key]?.sequence ?? .min, wanted[key]?.sequence ?? .min) {
        overtaken.insert(letter.place)
      } else {
        wanted[key] = (sequence, record)
      }
    }
    try send(wanted.values.map(\.record))
    // A newer state may have come between the look and the writing: then it is written once more.
    for _ in 0..<Self.maximumRounds {
      let hidden = try newest(of: Set(wanted.keys)).values.filter { !$0.isLast }
      guard !hidden.isEmpty else { return overtaken }
      try send(hidden.map { Self.again($0.record) })
    }
    throw LetterError.notWritten("newer states come faster than they can be looked at")
  }

  private static func again(_ record: ReceivedRecord) -> Record {
    Record(
      topic: record.topic, key: record.key, value: record.value, headers: record.headers,
      timestamp: record.timestamp, partition: record.partition)
  }
}
