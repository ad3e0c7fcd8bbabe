import Events
import Kafka
import Testing

@testable import Pipeline

@Suite struct `Event ids` {
  @Test func `are the same for the same entity and revision, on every day`() {
    let id = EventID.make(.orderChanged, subject: "order-1", revision: 1)
    #expect(id == "476b428b-bebf-5a75-a561-663bbc64da11")
    #expect(id == EventID.make(.orderChanged, subject: "order-1", revision: "1"))
  }

  @Test func `differ with type, subject and revision`() {
    let ids = [
      EventID.make(.orderChanged, subject: "order-1", revision: 1),
      EventID.make(.orderChanged, subject: "order-1", revision: 2),
      EventID.make(.orderChanged, subject: "order-2", revision: 1),
      EventID.make(.proofSubmitted, subject: "order-1", revision: 1),
    ]
    #expect(Set(ids).count == 4)
  }
}

@Suite struct `Header bytes` {
  @Test(arguments: [
    [],
    [Header(name: "a", value: [])],
    [Header(name: "", value: [0, 255, 10]), Header(name: "ключ", text: "wert")],
    [Header(name: "same", text: "1"), Header(name: "same", text: "2")],
    [Header(name: "large", value: [UInt8](repeating: 7, count: 70_000))],
  ])
  func `are read as they were written`(headers: [Header]) {
    #expect(HeaderBytes.decode(HeaderBytes.encode(headers)) == headers)
  }

  @Test(
    arguments: [
      [0], [0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 1, 65, 0, 0, 0, 2, 66],
      [255, 255, 255, 255, 1, 2, 3],
    ] as [[UInt8]])
  func `that are garbage give nothing`(bytes: [UInt8]) {
    #expect(HeaderBytes.decode(bytes) == nil)
  }
}

@Suite struct `A topic plan` {
  private let plan = TopicPlan(names: TopicNames(prefix: "x."), partitions: 3)

  @Test func `asks for every topic with its settings`() {
    let specifications = plan.specifications
    #expect(specifications.count == Topic.allCases.count)
    #expect(specifications.allSatisfy { $0.partitions == 3 })
    let state = specifications.first { $0.name == "x.entitlement-state" }
    #expect(state?.settings["cleanup.policy"] == "compact")
    let orders = specifications.first { $0.name == "x.orders" }
    #expect(orders?.settings["retention.ms"] == "-1")
  }

  @Test func `names each difference, and none where there is none`() {
    #expect(plan.differences(of: .orders, settings: Topic.orders.settings) == [])
    var settings = Topic.orders.settings
    settings["retention.ms"] = "604800000"
    settings["max.message.bytes"] = "1000"
    #expect(
      plan.differences(of: .orders, settings: settings) == [
        "x.orders has max.message.bytes=1000, needs 2097152",
        "x.orders has retention.ms=604800000, needs -1",
      ])
  }
}

@Suite struct `The delivery tracker` {
  @Test func `moves on only over what is delivered without a gap`() {
    let tracker = DeliveryTracker()
    tracker.begin(through: 10)
    for id in [11, 13, 14] as [Int64] { #expect(tracker.give(id)) }
    _ = tracker.delivered(13)
    #expect(tracker.through == 10)
    #expect(tracker.deliveredAhead == [13])
    _ = tracker.delivered(11)
    #expect(tracker.through == 13)
    #expect(tracker.held == 1)
    #expect(tracker.delivered(14), "the last report wakes the relay")
    #expect(tracker.through == 14)
    #expect(tracker.open == 0)
  }

  @Test func `sends what overtook a row that failed once more, after it`() {
    let tracker = DeliveryTracker()
    tracker.begin(through: 0)
    for id in 1...5 as ClosedRange<Int64> { #expect(tracker.give(id)) }
    _ = tracker.delivered(1)
    _ = tracker.delivered(3)
    tracker.failed(KafkaError(code: .timedOut, reason: "test"))
    _ = tracker.delivered(4)
    #expect(tracker.deliveredAhead.isEmpty, "a stop must not remove them either")
    tracker.forgetProducer()
    tracker.begin(through: 0)
    #expect(tracker.failure == nil)
    #expect(tracker.through == 1)
    for id in 2...5 as ClosedRange<Int64> { #expect(tracker.give(id)) }
    for id in 2...5 as ClosedRange<Int64> { _ = tracker.delivered(id) }
    #expect(tracker.through == 5)
  }

  @Test func `holds the rows behind a refused one until it has its dead letter`() {
    let tracker = DeliveryTracker()
    tracker.begin(through: 0)
    for id in [1, 2] as [Int64] { #expect(tracker.give(id)) }
    let error = KafkaError(code: .recordTooLarge, reason: "test")
    tracker.refused(.init(id: 1, error: error, isCertain: true))
    _ = tracker.delivered(2)
    #expect(tracker.through == 0)
    tracker.buried(1)
    #expect(tracker.through == 2)
    #expect(tracker.refusals.isEmpty)
  }
}

@Suite struct `What is fresh in the outbox` {
  private func row(_ id: Int64, bytes: Int = 10) -> Outbox.Row {
    Outbox.Row(
      id: id, topic: "t", key: nil, value: [UInt8](repeating: 0, count: bytes), headers: [],
      timestamp: 0)
  }

  @Test func `is given in order, once, where nothing is missing before it`() {
    let outbox = OutboxSignal()
    for id in 4...6 as ClosedRange<Int64> { outbox.keep(row(id)) }
    #expect(outbox.takeFresh(after: 2).isEmpty, "row 3 must be read from the store")
    #expect(outbox.takeFresh(after: 3).map(\.id) == [4, 5, 6])
    #expect(outbox.takeFresh(after: 3).isEmpty)
    outbox.keep(row(7))
    #expect(outbox.takeFresh(after: 6).map(\.id) == [7])
  }

  @Test func `is not what was read from the store meanwhile`() {
    let outbox = OutboxSignal()
    for id in 1...5 as ClosedRange<Int64> { outbox.keep(row(id)) }
    #expect(outbox.takeFresh(after: 3).map(\.id) == [4, 5])
    for id in 6...7 as ClosedRange<Int64> { outbox.keep(row(id)) }
    #expect(outbox.takeFresh(after: 9).isEmpty)
    outbox.keep(row(10))
    #expect(outbox.takeFresh(after: 9).map(\.id) == [10])
  }

  @Test func `ends before a gap`() {
    let outbox = OutboxSignal()
    for id in [1, 2, 9] as [Int64] { outbox.keep(row(id)) }
    #expect(outbox.takeFresh(after: 0).map(\.id) == [1, 2])
    #expect(outbox.takeFresh(after: 2).isEmpty)
    #expect(outbox.takeFresh(after: 8).map(\.id) == [9])
  }

  @Test func `is bounded in rows and bytes, however long nobody takes it`() {
    let outbox = OutboxSignal()
    let many = Int64(OutboxSignal.freshRows) + 10
    for id in 1...many { outbox.keep(row(id)) }
    #expect(outbox.takeFresh(after: 0).isEmpty)
    let kept = outbox.takeFresh(after: Int64(OutboxSignal.freshRows)).map(\.id)
    #expect(kept == Array(Int64(OutboxSignal.freshRows) + 1...many))

    for id in 1...9 as ClosedRange<Int64> { outbox.keep(row(id, bytes: 1_000_000)) }
    #expect(outbox.takeFresh(after: 0).isEmpty)
    #expect(outbox.takeFresh(after: 8).map(\.id) == [9])
  }
}
