import Events
import Testing

@testable import AppStore
@testable import verify_service

@Suite("Jobs that ask Apple")
struct AppleJobTests {
  private static let hour: Int64 = 3_600_000
  private static let day: Int64 = 24 * hour

  @Test func `the first window reaches back as far as Apple keeps notifications`() {
    let now = 1_000 * Self.day
    let rules = BackFill.Rules(interval: 900_000, first: 180 * Self.day)
    let window = rules.window(doneUntil: nil, now: now)
    #expect(window?.end == now)
    #expect(window.map { now - $0.start } == 180 * Self.day - Self.hour)
    let short = BackFill.Rules(interval: 900_000, first: 2 * Self.day)
    #expect(short.window(doneUntil: nil, now: now)?.start == now - 2 * Self.day)
  }

  @Test func `a window begins an hour before the end of the last, and not before it is time`() {
    let now = 1_000 * Self.day
    let rules = BackFill.Rules(interval: 900_000, first: 180 * Self.day)
    #expect(rules.window(doneUntil: now - 899_999, now: now) == nil)
    let next = rules.window(doneUntil: now - 900_000, now: now)
    #expect(next?.start == now - 900_000 - Self.hour && next?.end == now)
    // Away for a year: what Apple still has.
    let late = rules.window(doneUntil: now - 365 * Self.day, now: now)
    #expect(late.map { now - $0.start } == BackFill.Rules.kept)
  }

  @Test func `a job waits longer with each failure, at least as long as Apple asks`() {
    struct Fault: Error {}
    let pauses = (1...20).map { AppleJobs.pause(after: Fault(), failures: $0, random: 1) }
    #expect(pauses.first == .seconds(1) && pauses.last == AppleJobs.longestPause)
    #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(AppleJobs.pause(after: Fault(), failures: 1, random: 0) == .milliseconds(500))
    let asked = APIError(.status, status: 429, message: "", retryAfter: .seconds(90))
    #expect(AppleJobs.pause(after: asked, failures: 1, random: 0) == .seconds(90))
    let absurd = APIError(.status, status: 429, message: "", retryAfter: .seconds(90_000))
    #expect(AppleJobs.pause(after: absurd, failures: 1, random: 0) == .seconds(3600))
  }

  // MARK: When a subscription must be heard of.

  private func subscription(
    expires: Int64?, signed: Int64 = 10, _ fill: (inout FactContents) -> Void = { _ in }
  ) -> Lineage {
    var transaction = LineageTransaction(
      transactionId: "1", productId: "pro", type: "Auto-Renewable Subscription", quantity: 1,
      purchaseDate: 1, signedDate: signed, hash: "h")
    transaction.expiresDate = expires
    var fact = FactContents(lineage: sampleLineage, cause: LineageCause(kind: "notification"))
    fact.transactions = [transaction]
    fill(&fact)
    var lineage = Lineage(sampleLineage)
    _ = lineage.merge(fact)
    return lineage
  }

  @Test func `a subscription must be heard of at its end or that of its grace period`() {
    #expect(ReconcileRule.date(of: subscription(expires: 1_000)) == 1_000)
    let grace = subscription(expires: 1_000) {
      $0.renewal = LineageRenewal(signedDate: 20, hash: "r")
      $0.renewal?.gracePeriodExpiresDate = 5_000
      $0.renewal?.isInBillingRetryPeriod = true
      $0.renewal?.expirationIntent = 2
    }
    #expect(ReconcileRule.date(of: grace) == 5_000)
    let renewed = subscription(expires: 1_000) {
      var next = $0.transactions[0]
      next.transactionId = "2"
      next.expiresDate = 2_000
      $0.transactions.append(next)
    }
    #expect(ReconcileRule.date(of: renewed) == 2_000)
  }

  @Test func `nothing is awaited of what Apple has closed, or of what has no date`() {
    #expect(ReconcileRule.date(of: subscription(expires: nil)) == nil)
    #expect(ReconcileRule.date(of: Lineage(sampleLineage)) == nil)
    let refunded = subscription(expires: 1_000) { $0.transactions[0].revocationDate = 5 }
    #expect(ReconcileRule.date(of: refunded) == nil)
    let told = subscription(expires: 1_000) {
      $0.status = 2
      $0.statusDate = 1_100
    }
    #expect(ReconcileRule.date(of: told) == nil)
    let ended = subscription(expires: 1_000) {
      $0.renewal = LineageRenewal(signedDate: 1_100, hash: "r")
      $0.renewal?.expirationIntent = 1
    }
    #expect(ReconcileRule.date(of: ended) == nil)
    // A renewal after the end: what was said before counts no more.
    let revived = subscription(expires: 9_000, signed: 2_000) {
      $0.status = 2
      $0.statusDate = 1_100
      $0.renewal = LineageRenewal(signedDate: 1_100, hash: "r")
      $0.renewal?.expirationIntent = 1
    }
    #expect(ReconcileRule.date(of: revived) == 9_000)
  }

  @Test(arguments: [
    (status: Int64?(2), tries: Int64(0), next: Int64?.none), (5, 0, nil),
    (1, 0, 100 * hour + 600), (3, 0, 100 * hour + day), (nil, 0, 101 * hour), (nil, 3, 108 * hour),
    (nil, 40, 100 * hour + day),
  ])
  func `Apple is asked again as its answer suggests`(
    _ expected: (status: Int64?, tries: Int64, next: Int64?)
  ) {
    let now = 100 * Self.hour
    let end: Int64 = expected.status == 1 ? now + 3 * Self.hour : 99 * Self.hour
    let next = ReconcileRule.next(
      status: expected.status, end: end, tries: expected.tries, after: 600, now: now)
    #expect(next == (expected.status == 1 ? end + 600 : expected.next))
  }

  @Test func `billing retry is watched for its sixty days`() {
    let end = 100 * Self.day
    let next = ReconcileRule.next(
      status: 3, end: end, tries: 9, after: 600, now: end + 62 * Self.day)
    #expect(next == nil)
  }

  @Test func `a copy that was only signed anew is no news, one that says something else is`() {
    let known = lineage(ownedBy: "alice", fact(signed: 10, hash: "a"))
    func answer(_ signed: Int64, _ fill: (inout LineageTransaction) -> Void = { _ in }) -> AppleFact
    {
      var transaction = known.transactions[0]
      transaction.signedDate = signed
      transaction.hash = "b"
      fill(&transaction)
      return AppleFact(
        fact: AppStoreFact(
          source: .reconcile, signed: "", hash: "b", bundleId: "", environment: "", lineage: nil,
          receivedAt: 0), transaction: transaction)
    }
    #expect(!answer(20).isNews(to: known))
    #expect(answer(20) { $0.revocationDate = 15 }.isNews(to: known))
    #expect(!answer(5) { $0.revocationDate = 4 }.isNews(to: known), "what is older is no news")
    #expect(answer(20) { $0.transactionId = "other" }.isNews(to: known))
    #expect(answer(20).isNews(to: Lineage(sampleLineage)))
  }
}
