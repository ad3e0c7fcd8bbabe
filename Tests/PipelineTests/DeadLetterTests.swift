import Cryptography
import Events
import Kafka
import Pipeline
import ServiceRuntime
import TestSupport
import Testing

@testable import purser

extension WholeWay {
  /// What a service gave up, and the commands by which people deal with it.
  @Suite(
    "Dead letters", .serialized, WayTrait(keepsLaws: false), .timeLimit(.minutes(4)))
  struct DeadLetterTests {
    private var way: Way { get throws { try WholeWay.way } }

    private func purser(_ words: String...) async throws -> Script.Ending {
      let way = try way
      return try await Script.run(
        "\(way.plan.places.executables)/purser", ["dead-letters"] + words,
        environment: ["KAFKA_BOOTSTRAP_SERVERS": way.broker.bootstrapServers])
    }

    private func write(_ record: Record) async throws {
      let producer = try Producer(
        .bootstrap(try way.broker.bootstrapServers), name: "stranger", log: .silent,
        metrics: Metrics())
      for result in await producer.send([record]) { _ = try result.get() }
      await producer.close(by: .after(.seconds(5)))
    }

    /// The letters of a key, in the order of reading.
    private func letters(_ key: String) throws -> [DeadLetter] {
      try way.journal.events(on: .deadLetters).filter { $0.key == key }.map(\.record)
        .filter { LetterDecision($0) == nil }.map(DeadLetter.init)
    }

    private func waitForLetter(_ key: String, _ count: Int) async throws -> DeadLetter {
      try await eventually("letter \(count) of \(key)") {
        let letters = try letters(key)
        return letters.count == count ? letters.last : nil
      }
    }

    @Test
    func `what was given up yesterday is taken today, with its own id, and its letter is closed`()
      async throws
    {
      let way = try way
      // A purchase whose proof a service of yesterday could not read; Apple says nothing about it.
      try await way.holdNotifications(true)
      let order = try await way.order("patient", "themes.all")
      let bought = try await way.buy("themes.all", token: order.id)
      let proof = Proof(
        id: UUIDs.version5(namespace: EventID.namespace, name: order.id), orderId: nil,
        customer: "patient", bundleId: way.plan.bundleID, kind: .signedTransaction,
        content: try #require(bought.signedTransaction), submittedAt: 1)
      let headers = EventHeaders(
        id: proof.id, type: .proofSubmitted, source: "/purser/order-service",
        time: "2026-01-02T03:04:05.678Z", subject: proof.id)
      let proofs = way.plan.topics.name(of: .proofs)
      let partition = Int32(
        Partitioner.partition(
          forKey: Array("patient".utf8), partitions: TopicNames.defaultPartitions))
      let notes = [
        ("reason", "of-yesterday"), ("detail", "kind is not known"),
        ("service", "/purser/verify-service"), ("origin-topic", proofs),
        ("origin-partition", "\(partition)"), ("origin-offset", "0"),
      ]
      try await write(
        Record(
          topic: way.plan.topics.name(of: .deadLetters), key: Array("patient".utf8),
          value: try EventJSON.encode(proof),
          headers: headers.pairs.map { Header(name: $0.name, text: $0.value) }
            + notes.map { Header(name: "purser-\($0.0)", text: $0.1) }))
      let letter = try await waitForLetter("patient", 1)
      #expect(try await purser("list", "--check").code == 1)

      let dry = try await purser("retry", "--reason", "of-yesterday", "--dry-run")
      #expect(dry.code == 0 && dry.output.contains("1 would be retried"), "\(dry.output)")
      #expect(way.journal.all(Proof.self) { $0.customer == "patient" }.isEmpty)

      let retried = try await purser(
        "retry", "--reason", "of-yesterday", "--because", "the reader is mended")
      #expect(retried.code == 0 && retried.output.contains("1 retried"), "\(retried.output)")
      let right = try await way.journal.first(EntitlementChanged.self, "the right came") {
        $0.customer == "patient" && $0.entitlement.isActive
      }
      #expect(right.entitlement.grantor?.transactionId == bought.transactionId)
      let again = try #require(way.journal.events(on: .proofs).first { $0.key == "patient" })
      #expect(again.id == proof.id && again.record.partition == partition)
      #expect(again.record.value == letter.record.value)
      #expect(again.record.header("ce_time") == headers.time)
      #expect(again.record.header("purser-retries") == "1")
      #expect(again.record.header("purser-reason") == nil)

      // Run again it does nothing, and what was done can be seen.
      let second = try await purser("retry", "--reason", "of-yesterday")
      #expect(second.code == 0 && second.output.contains("0 retried, 1 were closed before"))
      #expect(way.journal.all(Proof.self) { $0.customer == "patient" }.count == 1)
      let shown = try await purser("list", "--decided", "--key", "patient", "--json")
      for words in ["\"retried\"", "the reader is mended", proof.id, "\"of-yesterday\""] {
        #expect(shown.output.contains(words), "\(shown.output)")
      }
      try await way.holdNotifications(false)
    }

    @Test
    func `what nobody can read comes back until it is discarded, and that leaves a trace`()
      async throws
    {
      let way = try way
      let metric = "dead_letters_total{reason=\"malformed-value\"}"
      let counted = try await way.metric("verify-service", metric)
      try await write(
        Record(
          topic: way.plan.topics.name(of: .proofs), key: Array("garbage".utf8),
          value: Array("{\u{1B}[2J".utf8) + [0xff],
          headers: [
            Header(name: "ce_id", text: "stranger-1"),
            Header(name: "ce_type", text: EventType.proofSubmitted.rawValue),
          ]))
      let first = try await waitForLetter("garbage", 1)
      #expect(first.reason == "malformed-value" && first.retries == 0)
      #expect(try await way.metric("verify-service", metric) == counted + 1)

      let page = try await purser("show", "\(first.place)")
      for words in ["malformed-value", "iap.proofs", "ce_id: stranger-1", "7b 1b 5b 32 4a ff"] {
        #expect(page.output.contains(words), "\(page.output)")
      }
      #expect(!page.output.contains("\u{1B}"), "content cannot steer the terminal")

      // It goes back by the same door and fails again, at most three times.
      for round in 1...LetterOffice.maximumRetries {
        let open = try #require(try letters("garbage").last)
        #expect(try await purser("retry", "\(open.place)").code == 0)
        let next = try await waitForLetter("garbage", round + 1)
        #expect(next.retries == round && next.original.value == first.original.value)
        #expect(next.original.headers.first { $0.name == "ce_id" }?.text == "stranger-1")
      }
      let last = try #require(try letters("garbage").last)
      let refused = try await purser("retry", "--key", "garbage")
      #expect(refused.code == 1 && refused.output.contains("--force"), "\(refused.output)")

      #expect(try await purser("discard", "\(last.place)").code == 64, "without a word of why")
      let discarded = try await purser("discard", "\(last.place)", "--because", "a stranger's")
      #expect(discarded.code == 0 && discarded.output.contains("1 discarded"))
      let again = try await purser("discard", "--key", "garbage", "--because", "a stranger's")
      #expect(again.code == 0 && again.output.contains("0 discarded, 4 were closed before"))
      let trace = try await purser("list", "--decided", "--key", "garbage")
      #expect(trace.output.contains("discarded") && trace.output.contains("no letter is open"))
      let letter = try await purser("show", "\(last.place)")
      #expect(letter.output.contains("a stranger's"), "the letter is there with its note")
      #expect(try await purser("list", "--check", "--key", "garbage").code == 0)
    }

    @Test func `a state of a customer goes back only where no newer one stands`() async throws {
      let way = try way
      let topic = way.plan.topics.name(of: .entitlementState)
      func states(_ key: String) -> [ReadEvent] {
        way.journal.events(on: .entitlementState).filter { $0.key == key }
      }
      for customer in ["behind", "missing"] {
        let order = try await way.order(customer, "coins.100")
        let bought = try await way.buy("coins.100", token: order.id)
        _ = try await way.prove(order.id, try #require(bought.signedTransaction))
      }
      _ = try await way.quiet()
      // Of one customer the newest state is there; of the other a newer one was refused by the broker.
      for (customer, step) in [("behind", Int64(0)), ("missing", 1)] {
        let there = try #require(states(customer).last?.record)
        let number = try #require(there.sequence) + step
        try await write(
          Record(
            topic: way.plan.topics.name(of: .deadLetters), key: there.key, value: there.value,
            headers: there.headers.filter { $0.name != "purser-sequence" } + [
              Header(name: "purser-sequence", text: "\(number)"),
              Header(name: "purser-reason", text: "refused-by-kafka"),
              Header(name: "purser-service", text: "/purser/entitlement-service"),
              Header(name: "purser-origin-topic", text: topic),
              Header(name: "purser-sequence", text: "\(number + 1000)"),
            ]))
        _ = try await waitForLetter(customer, 1)
      }
      let before = states("behind").count
      let retried = try await purser("retry", "--reason", "refused-by-kafka", "--because", "mended")
      #expect(retried.code == 0 && retried.output.contains("2 retried"), "\(retried.output)")
      _ = try await way.quiet()
      #expect(states("behind").count == before, "what stands is not written again")
      let back = try #require(states("missing").last?.record)
      #expect(back.header("purser-retries") == "1" && states("missing").count == before + 1)
      #expect(back.headers.filter { $0.name == "purser-sequence" }.count == 1)
      let shown = try await purser("list", "--decided", "--key", "behind", "--json")
      #expect(shown.output.contains("a newer one stands on the topic"), "\(shown.output)")
    }

    @Test func `a wrong command line says what is needed`() async throws {
      for words in [["retry"], ["retry", "3"], ["discard", "--all"], ["show"]] {
        let ending = try await Script.run(
          "\(try way.plan.places.executables)/purser", ["dead-letters"] + words,
          environment: ["KAFKA_BOOTSTRAP_SERVERS": try way.broker.bootstrapServers])
        #expect(ending.code == 64, "\(words): \(ending.output)")
      }
      let missing = try await purser("show", "0:999999")
      #expect(missing.code == 1 && missing.output.contains("no letter 0:999999"))
      let help = try await Script.run(
        "\(try way.plan.places.executables)/purser", ["dead-letters", "--help"])
      for word in ["retry", "discard", "--because", "--dry-run", "mends a reader"] {
        #expect(help.output.contains(word))
      }
    }
  }
}
