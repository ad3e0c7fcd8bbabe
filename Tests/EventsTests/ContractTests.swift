import Events
import TestSupport
import Testing

@Suite("Topics") struct TopicTests {
  @Test func `what is kept, what goes after 30 days and what is compacted is as designed`() {
    for topic in [Topic.customers, .orders, .appstore, .transactions, .entitlements] {
      #expect(topic.settings["retention.ms"] == "-1")
      #expect(topic.settings["cleanup.policy"] == "delete")
    }
    for topic in [Topic.proofs, .deadLetters] {
      #expect(topic.settings["retention.ms"] == "2592000000")
    }
    #expect(Topic.entitlementState.settings["cleanup.policy"] == "compact")
    #expect(Topic.allCases.allSatisfy { $0.settings["max.message.bytes"] == "2097152" })
  }

  @Test func `names have the prefix and lead back to the topic`() {
    let names = TopicNames(prefix: "test.")
    for topic in Topic.allCases {
      #expect(names.topic(named: names.name(of: topic)) == topic)
    }
    #expect(names.name(of: .entitlementState) == "test.entitlement-state")
    #expect(names.topic(named: "iap.orders") == nil)
    #expect(names.topic(named: "test.else") == nil)
  }
}

@Suite("Customer ids") struct CustomerTests {
  @Test func `an opaque id of up to 128 bytes is taken`() throws {
    for id in ["a", "user-1", "日本", String(repeating: "x", count: 128), "a b/c?d=$"] {
      try Customer.check(id)
    }
  }

  @Test(arguments: [
    ("", Customer.Fault.empty), ("$appstore:x", .reserved), ("$", .reserved),
    ("$\u{301}x", .reserved), (".", .dotSegment), ("..", .dotSegment),
    ("a\nb", .controlCharacter), ("a\u{0}b", .controlCharacter), ("a\u{85}b", .controlCharacter),
    (String(repeating: "x", count: 129), .tooLong), (String(repeating: "é", count: 65), .tooLong),
  ])
  func `an id that cannot be is refused with its reason`(id: String, fault: Customer.Fault) {
    #expect(throws: fault) { try Customer.check(id) }
  }

  @Test func `customers are told apart by bytes, as keys and stores tell them`() {
    #expect("caf\u{e9}" == "cafe\u{301}", "Swift holds them for equal")
    #expect(!Customer.isSame("caf\u{e9}", "cafe\u{301}"))
    #expect(Customer.isSame("caf\u{e9}", "caf\u{e9}"))
  }

  @Test func `a provisional customer is told from others and names its lineage`() {
    let lineage = LineageID(
      bundleId: "com.example.app", environment: "Sandbox", originalTransactionId: "1")
    let provisional = Customer.provisional(for: lineage)
    #expect(provisional == "$appstore:com.example.app/Sandbox/1")
    #expect(Customer.isProvisional(provisional))
    #expect(!Customer.isProvisional("alice"))
  }
}

@Suite("Names and headers") struct NameTests {
  @Test func `a lineage's name leads back to the lineage`() {
    let lineage = LineageID(
      bundleId: "com.example.app", environment: "Sandbox", originalTransactionId: "1")
    #expect(LineageID(lineage.description) == lineage)
    for wrong in ["", "a/b", "a/b/c/d", "a//c"] { #expect(LineageID(wrong) == nil) }
  }

  @Test func `headers are CloudEvents in Kafka binary mode and lead back`() {
    let headers = EventHeaders(
      id: "i", type: .orderChanged, source: "/purser/order-service",
      time: "2026-01-02T03:04:05.678Z", subject: "s", traceparent: "00-a-b-01")
    let pairs = Dictionary(headers.pairs.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    #expect(pairs["ce_specversion"] == "1.0")
    #expect(pairs["content-type"] == "application/json")
    #expect(EventHeaders(pairs: headers.pairs) == headers)
    #expect(EventHeaders(pairs: [(name: "ce_id", value: "i")]) == nil)
  }
}
