import Events
import Kafka

@testable import purser

/// A law of the house that a run has broken, with the history of whom it concerns.
struct BrokenLaw: Error, CustomStringConvertible {
  let law: String
  /// A customer, an order or a lineage.
  let subject: String
  let finding: String
  var history: [String] = []
  /// How many more findings there are.
  var others = 0

  var description: String {
    let lines = history.map { "\n    \($0)" }.joined()
    return "\(law): \(subject): \(finding)\(others > 0 ? " (and \(others) more)" : "")"
      + "\n  all that concerns it, in the order of reading:\(lines)"
  }
}

/// What must hold once all is quiet, whatever happened before.
struct Laws {
  let events: [ReadEvent]
  let stores: StoreContents

  /// Waits until all is quiet and holds everything that was published against the laws.
  ///
  /// - Throws: `BrokenLaw` for the first finding; `NotInTime` when it does not become quiet.
  static func check(
    _ way: Way, within patience: Duration = Way.patience, lettersAllowed: Int = 0
  ) async throws {
    let stores = try await way.quiet(within: patience)
    try hold(way, stores, lettersAllowed: lettersAllowed)
  }

  /// Holds everything that was published against the laws, given what the stores hold.
  ///
  /// - Throws: `BrokenLaw` for the first finding.
  static func hold(_ way: Way, _ stores: StoreContents, lettersAllowed: Int = 0) throws {
    let laws = Laws(events: Array(way.journal.events()), stores: stores)
    let findings = laws.findings(lettersAllowed: lettersAllowed)
    guard var first = findings.first else { return }
    first.others = findings.count - 1
    throw laws.explained(first)
  }

  /// A finding with the history of whom it concerns.
  func explained(_ finding: BrokenLaw) -> BrokenLaw {
    var finding = finding
    finding.history = history(of: finding.subject)
    return finding
  }

  func findings(lettersAllowed: Int = 0) -> [BrokenLaw] {
    deadLetters(allowed: lettersAllowed) + headers() + repeats() + orderRevisions()
      + lineageRevisions() + proofs() + deliveries() + origins() + versions() + folds()
  }

  /// Lines about everything that bears or mentions a subject.
  func history(of subject: String) -> [String] {
    let wanted = Array(subject.utf8)
    let found = events.filter { event in
      event.record.key == wanted || event.record.value.map { contains($0, wanted) } ?? false
    }
    let lines = found.map { event in
      let place = "\(event.record.topicPartition)@\(event.record.offset)"
      return "\(place) \(RecordLine.line(event.record, topic: event.topic, .standard))"
    }
    return lines.count > 120 ? Array(lines.prefix(60) + ["…"] + lines.suffix(60)) : lines
  }

  private func contains(_ bytes: [UInt8], _ wanted: [UInt8]) -> Bool {
    String(decoding: bytes, as: UTF8.self).contains(String(decoding: wanted, as: UTF8.self))
  }

  /// The first copy of every event of a type, in the order of reading.
  func once<Value: Told>(_ type: Value.Type) -> [Value] {
    var seen: Set<String> = []
    return events.compactMap { event in
      guard let value = event.told(type), seen.insert(event.id).inserted else { return nil }
      return value
    }
  }

  func deadLetters(allowed: Int) -> [BrokenLaw] {
    let letters = events.filter { $0.topic == .deadLetters }
    guard letters.count > allowed else { return [] }
    return letters.map { letter in
      BrokenLaw(
        law: "no dead letter holds anything valid", subject: letter.key,
        finding: letter.record.headers.map { "\($0.name)=\($0.text)" }.joined(separator: " "))
    }
  }
}

extension ReadEvent {
  /// `ce_id`.
  var id: String { record.header("ce_id") ?? "" }
}
