import Events
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

/// What each of Apple's notifications means for what a customer owns (`app-store.md` §3.1).
///
/// Rows without a transaction, such as TEST or the summary of a mass extension, never reach this
/// service: the ledger publishes no lineage for them.
@Suite("Apple's notifications, row by row") struct NotificationTableTests {
  @Test(arguments: subscriptionRows + oneTimeRows)
  func `a notification changes what it says and no more`(row: NotificationRow) async throws {
    let service = try TestService()
    if var before = row.before {
      before.cause = LineageCause(kind: "notification")
      try await service.read(before)
    }
    // What runs out before the notification has run out.
    service.clock.set(day(row.on) - 1)
    try await service.fire()
    let already = try await service.told().count
    service.clock.set(day(row.on))
    var after = row.after
    after.revision = 2
    after.decidedAt = day(row.on)
    after.cause = LineageCause(
      kind: "notification", notificationType: row.type, subtype: row.subtype,
      fact: "fact-of-\(row.type)", transactionId: after.transactions.last?.transactionId)
    try await service.read(after)

    #expect(try await service.state("alice").rights == row.rights)
    #expect(Array(try await service.told().dropFirst(already)) == row.told.map { "alice \($0)" })
    let shown = try await service.rights().last { change in
      change.entitlement.name == "pro" || change.entitlement.name != "extra"
    }?.entitlement
    if let shown { #expect(row.shows(shown), "\(shown)") }

    // The same notification once more changes nothing.
    let count = try await service.published().count
    try await service.read(after)
    #expect(try await service.published().count == count)
    #expect(try await service.wrongBalances() == [])
  }
}
