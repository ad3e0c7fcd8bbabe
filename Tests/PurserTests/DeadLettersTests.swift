import Events
import Kafka
import ServiceRuntime
import Testing

@testable import purser

@Suite("Dead letters as purser sees them") struct DeadLettersTests {
  private func record(
    _ offset: Int64, _ headers: [(String, String)], value: [UInt8]? = [1]
  ) -> ReceivedRecord {
    ReceivedRecord(
      topic: "iap.dead-letters", partition: 2, offset: offset, timestamp: 1000 + offset,
      key: Array("alice".utf8), value: value,
      headers: headers.map { Header(name: $0.0, text: $0.1) })
  }

  private let notes = [
    ("purser-reason", "malformed-value"), ("purser-detail", "at byte 0"),
    ("purser-service", "/purser/verify-service"), ("purser-origin-topic", "iap.proofs"),
    ("purser-origin-partition", "4"), ("purser-origin-offset", "17"),
  ]

  private func office() throws -> LetterOffice {
    LetterOffice(
      configuration: .bootstrap("localhost:1"), names: .init(), clock: SystemClock())
  }

  @Test func `the original is the letter without the letter's notes`() throws {
    let own = [("ce_id", "i"), ("purser-reason", "said by the writer"), ("h", "1"), ("h", "2")]
    let letter = DeadLetter(record(0, own + notes))
    #expect(letter.reason == "malformed-value" && letter.originOffset == 17)
    let original = letter.original
    #expect(original.topic == "iap.proofs" && original.partition == 4)
    #expect(original.headers.map { "\($0.name)=\($0.text)" } == own.map { "\($0.0)=\($0.1)" })
    #expect(try office().objection(to: letter, force: false) == nil)
  }

  @Test func `a letter is open until something was decided about it, and the first decision holds`()
    throws
  {
    let letters = [record(0, notes), record(1, notes)].map(DeadLetter.init)
    let decisions = [("one", LetterDecision.Kind.discarded), ("two", .retried)].map {
      because, kind in
      LetterDecision(kind, letters[0].place, because: because, at: 5000).record(for: letters[0])
    }
    let written = decisions.enumerated().map { index, record in
      ReceivedRecord(
        topic: record.topic, partition: 2, offset: 2 + Int64(index), timestamp: 5000,
        key: record.key, value: record.value, headers: record.headers)
    }
    let box = LetterBox(letters.map(\.record) + written)
    #expect(box.letters.count == 2)
    let decided = try #require(box.letters[letters[0].place]?.decision)
    #expect(decided.kind == .discarded && decided.because == "one" && decided.decidedAt == 5000)
    #expect(box.sorted { $0.decision == nil }.map(\.place) == [letters[1].place])
  }

  @Test func `what cannot go back says why`() throws {
    let office = try office()
    func objection(_ changes: [(String, String)], force: Bool = false) -> String? {
      let kept = notes.filter { note in !changes.contains { $0.0 == note.0 } }
      let all = kept + changes.filter { $0.1 != "" }
      return office.objection(to: DeadLetter(record(0, all)), force: force)
    }
    #expect(objection([("purser-origin-topic", "")])?.contains("which topic") == true)
    #expect(objection([("purser-origin-topic", "iap.dead-letters")]) != nil)
    #expect(objection([("purser-origin-topic", "someone.else")]) != nil)
    let compacted = objection([("purser-origin-topic", "iap.entitlement-state")], force: true)
    #expect(compacted?.contains("hide a newer one") == true)
    let numbered = [("purser-sequence", "7")] + notes.filter { $0.0 != "purser-origin-topic" }
    let state = DeadLetter(
      record(
        0, numbered + [("purser-origin-topic", "iap.entitlement-state"), ("purser-sequence", "9")]))
    #expect(office.objection(to: state, force: false) == nil)
    #expect(state.original.headers.map { "\($0.name)=\($0.text)" } == ["purser-sequence=7"])
    let lost = objection([("purser-value-left-out", "9 bytes"), ("purser-origin-offset", "")])
    #expect(lost?.contains("value stands nowhere") == true)
    #expect(objection([("purser-value-left-out", "9 bytes")]) == nil, "it is read at its origin")
    #expect(objection([("purser-retries", "2")]) == nil)
    #expect(objection([("purser-retries", "3")])?.contains("--force") == true)
    #expect(objection([("purser-retries", "3")], force: true) == nil)
  }

  @Test func `a place leads to its letter and back`() {
    let place = LetterPlace("2:17")
    #expect(place?.partition == 2 && place?.offset == 17 && place.map { "\($0)" } == "2:17")
    for wrong in ["", "2", "2:", ":2", "a:b", "-1:2", "1:2:3"] {
      #expect(LetterPlace(wrong) == nil)
    }
  }
}
