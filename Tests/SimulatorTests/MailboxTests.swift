import AppStore
import Testing

@testable import app_store_simulator

@Suite("Notification mailbox")
struct MailboxTests {
  private func happening(_ lineage: Int = 0) -> Happening {
    var transaction = TransactionPayload()
    transaction.originalTransactionId = String(lineage)
    return Happening(
      type: .didRenew, subtype: nil, at: january31, transaction: transaction, renewalInfo: nil,
      status: nil)
  }

  private func attempt(
    _ result: SendAttemptResult, at time: Int64 = january31, again: Bool = false
  ) -> SendAttempt {
    SendAttempt(attemptDate: time, sendAttemptResult: result, status: nil, isRedelivery: again)
  }

  private func next(_ mailbox: inout Mailbox, at time: Int64) throws -> Delivery {
    let taken = mailbox.take(lane: 0, now: time)
    return try #require(taken)
  }

  @Test func `in Production a notification is tried six times, as late as Apple does`() throws {
    var mailbox = Mailbox(rules: Mailbox.Rules(environment: .production))
    let uuid = mailbox.post(happening())
    var time = january31
    for hours in [1, 12, 24, 48, 72] as [Int64] {
      let delivery = try next(&mailbox, at: time)
      #expect(delivery.uuid == uuid)
      mailbox.record(attempt(.unsuccessfulStatus, at: time), of: delivery.number)
      #expect(mailbox.nextRetry == time + hours * hour)
      #expect(mailbox.take(lane: 0, now: time + hours * hour - 1) == nil)
      #expect(mailbox.isQuiet(at: time + hours * hour - 1))
      #expect(!mailbox.isQuiet(at: time + hours * hour))
      time += hours * hour
    }
    let last = try next(&mailbox, at: time)
    mailbox.record(attempt(.timedOut, at: time), of: last.number)
    #expect(mailbox.nextRetry == nil)
    #expect(mailbox.delivery(uuid)?.state == .failed)
    #expect(mailbox.delivery(uuid)?.attempts.count == 6)
  }

  @Test func `in Sandbox there is a single attempt`() throws {
    var mailbox = Mailbox(rules: Mailbox.Rules())
    let uuid = mailbox.post(happening())
    let delivery = try next(&mailbox, at: january31)
    mailbox.record(attempt(.socketIssue), of: delivery.number)
    #expect(mailbox.delivery(uuid)?.state == .failed)
    #expect(mailbox.nextRetry == nil)
    #expect(mailbox.openCount == 0)
  }

  @Test func `a retry goes before newer notifications, which do not wait for it`() throws {
    var mailbox = Mailbox(rules: Mailbox.Rules(environment: .production))
    let first = mailbox.post(happening())
    let taken = try next(&mailbox, at: january31)
    mailbox.record(attempt(.timedOut), of: taken.number)
    let second = mailbox.post(happening())
    #expect(mailbox.take(lane: 0, now: january31)?.uuid == second)
    _ = mailbox.post(happening())
    #expect(mailbox.take(lane: 0, now: january31 + hour)?.uuid == first)
  }

  @Test func `a paused mailbox holds everything back, in order`() {
    var mailbox = Mailbox(rules: Mailbox.Rules())
    mailbox.setPaused(true)
    let uuids = (0..<3).map { _ in mailbox.post(happening()) }
    #expect(mailbox.take(lane: 0, now: january31) == nil)
    #expect(mailbox.isQuiet(at: january31))
    mailbox.setPaused(false)
    #expect(!mailbox.isQuiet(at: january31))
    #expect((0..<3).map { _ in mailbox.take(lane: 0, now: january31)?.uuid } == uuids)
  }

  @Test func `the queue has a bound, and so has the history`() throws {
    var mailbox = Mailbox(rules: Mailbox.Rules(queueLimit: 3, historyLimit: 2))
    let uuids = (0..<3).map { _ in mailbox.post(happening()) }
    #expect(!mailbox.hasRoom)
    for _ in 0..<3 {
      let delivery = try next(&mailbox, at: january31)
      mailbox.record(attempt(.success), of: delivery.number)
    }
    #expect(mailbox.hasRoom)
    #expect(mailbox.all.map(\.uuid) == Array(uuids.dropFirst()))
    #expect(mailbox.delivery(uuids[0]) == nil)
  }

  @Test func `the signed text is kept from the first attempt on`() throws {
    var mailbox = Mailbox(rules: Mailbox.Rules())
    let uuid = mailbox.post(happening())
    let number = try #require(mailbox.delivery(uuid)?.number)
    #expect(mailbox.keep("first", of: number) == "first")
    #expect(mailbox.keep("second", of: number) == "first")
  }

  @Test func `a redelivery mends a failure and disturbs nothing else`() throws {
    var mailbox = Mailbox(rules: Mailbox.Rules())
    let uuid = mailbox.post(happening())
    let delivery = try next(&mailbox, at: january31)
    mailbox.record(attempt(.timedOut), of: delivery.number)
    mailbox.record(attempt(.success, again: true), of: delivery.number)
    #expect(mailbox.delivery(uuid)?.state == .delivered)
    mailbox.record(attempt(.timedOut, again: true), of: delivery.number)
    #expect(mailbox.delivery(uuid)?.state == .delivered)
    #expect(mailbox.isQuiet(at: january31))
    #expect(mailbox.openCount == 0)
  }

  @Test func `lanes keep the order of each lineage`() {
    var mailbox = Mailbox(rules: Mailbox.Rules(lanes: 2))
    let even = [mailbox.post(happening(2)), mailbox.post(happening(4))]
    let odd = mailbox.post(happening(3))
    #expect(mailbox.take(lane: 1, now: january31)?.uuid == odd)
    #expect((0..<2).map { _ in mailbox.take(lane: 0, now: january31)?.uuid } == even)
    #expect(mailbox.take(lane: 1, now: january31) == nil)
  }

  @Test func `without a URL notifications are only shown`() {
    var mailbox = Mailbox(rules: Mailbox.Rules(hasURL: false))
    let uuid = mailbox.post(happening())
    #expect(mailbox.delivery(uuid)?.state == .unsent)
    #expect(mailbox.take(lane: 0, now: january31) == nil)
    #expect(mailbox.openCount == 0)
  }
}
