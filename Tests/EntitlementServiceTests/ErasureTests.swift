import Events
import FoundationEssentials
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service

@Suite("What an erasure leaves") struct ErasureTests {
  private func told(_ original: String, _ bought: LineageTransaction, to customer: String)
    -> LineageState
  {
    lineage(original, [bought], revision: 1) { $0.customer = customer }
  }

  /// `guest-4711` with purchases, a grant, a spend, settings and a webhook, merged into `anna-4712`.
  private func lived() async throws -> TestService {
    let service = try TestService()
    let hook = try await service.request(
      .post, "/v1/webhooks", #"{"url": "https://203.0.113.7/hook"}"#, key: "h")
    #expect(hook.status == 201, "\(String(decoding: hook.body, as: UTF8.self))")
    try await service.read(
      told("8", transaction("8", "coins.100", "Consumable", on: 0), to: "guest-4711"))
    try await service.read(told("1", monthly("1", from: 0, to: 30), to: "guest-4711"))
    try await service.read(
      told("9", transaction("9", "coins.100", "Consumable", on: 0), to: "anna-4712"))
    for (path, body) in [
      ("grants", #"{"entitlement": "vip", "environment": "Sandbox", "reason": "of guest-4711"}"#),
      ("spends", #"{"units": {"coins": 60}, "environment": "Sandbox"}"#),
    ] {
      let answer = try await service.request(
        .post, "/v1/customers/guest-4711/\(path)", body, key: path)
      #expect(answer.status == 201)
    }
    let settings = try await service.request(
      .put, "/v1/customers/guest-4711/refund-settings", #"{"customerConsented": true}"#)
    #expect(settings.status == 200)
    try await service.merge("guest-4711", into: "anna-4712")
    return service
  }

  /// All that is to go out has gone, to topics and webhooks.
  private func settle(_ service: TestService) async throws {
    let hooks = service.hooks
    try await service.store.change { change in
      try change.transaction.run("DELETE FROM outbox")
      let waiting = try change.transaction.query(
        "SELECT endpoint, id, customer FROM webhook_deliveries WHERE state <> 'delivered' ORDER BY id"
      ) { ($0.text(0), $0.int(1), $0.text(2)) }
      for (endpoint, id, customer) in waiting {
        try hooks.end(change, endpoint, id, customer, state: "delivered")
      }
    }
  }

  private static let names = ["guest-4711", "anna-4712"]

  @Test(arguments: [["anna-4712", "guest-4711"], ["guest-4711", "anna-4712"]])
  func `nothing in the store names an erased customer or who became it`(order: [String])
    async throws
  {
    let service = try await lived()
    #expect(
      try StoreBytes.naming(Self.names, at: service.path).count == 2, "there is what is there")
    for customer in order { try await service.erase(customer, at: day(1)) }
    let story = try await service.published().filter { $0.type == "entitlements.customer-erased" }
    #expect(Set(story.map(\.key)) == Set(Self.names) && story.count == 2)
    try await settle(service)
    #expect(try await service.bytesNaming(Self.names) == [])
  }

  @Test func `a merge that is read after the erasure brings nothing back`() async throws {
    let service = try TestService()
    try await service.read(told("1", monthly("1", from: 0, to: 30), to: "guest-4711"))
    try await service.erase("anna-4712", at: day(1))
    try await service.merge("guest-4711", into: "anna-4712", at: day(0))
    try await service.erase("guest-4711", at: day(1))
    try await service.merge("guest-4711", into: "anna-4712", at: day(0))
    for customer in Self.names { #expect(try await service.state(customer).rights == []) }
    try await expectSameAfterRebuild(service)
    try await settle(service)
    #expect(try await service.bytesNaming(Self.names) == [])
  }

  @Test func `a rebuilt store names nobody who was erased`() async throws {
    let service = try await lived()
    for customer in Self.names { try await service.erase(customer, at: day(1)) }
    try await expectSameAfterRebuild(service)
    let rebuilt = try await service.rebuilt()
    try await settle(rebuilt)
    #expect(try await rebuilt.bytesNaming(Self.names) == [])
  }
}

extension TestService {
  /// Which of some texts stand in the store's files, after it was closed as at the end of the service.
  func bytesNaming(_ names: [String]) async throws -> [String] {
    await store.readers.close(by: .after(.seconds(5)))
    await StoreService(store).stop(by: .after(.seconds(5)))
    return try StoreBytes.naming(names, at: path)
  }
}
