import Events
import FoundationEssentials
import PurserClient
import Testing

@testable import purser

extension WholeWay {
  /// The client's library on a device, against the real services with the simulator as the store.
  @Suite("The story of an app", .serialized, .wayWithOwnCatalog, .timeLimit(.minutes(4)))
  struct ClientStoryTests {
    private var way: Way { get throws { try WholeWay.way } }

    private func app(
      _ customer: String, on device: SimulatedDevice, wait: Int = 20, cut: Bool = false
    ) throws -> Purser {
      let way = try way
      var configuration = PurserConfiguration(
        orders: way.plan.orderURL, entitlements: way.plan.entitlementURL, customer: customer,
        token: { way.plan.apiKey })
      configuration.wait = wait
      configuration.tries = cut ? 1 : 4
      return Purser(
        configuration: configuration, transport: WayTransport(way: way, losesProofs: cut),
        store: device,
        copies: FileCopies(folder: way.plan.file("copies-\(UUID().uuidString)")))
    }

    private func device(_ account: AppleAccount = AppleAccount()) throws -> SimulatedDevice {
      SimulatedDevice(way: try way, account: account)
    }

    private func completed(_ result: BuyResult) throws -> PurserOrder {
      guard case .completed(let order) = result else {
        throw NotInTime(description: "the purchase was not completed: \(result)")
      }
      return order
    }

    @Test(arguments: [("themes.all", "themes"), ("pro.monthly", "pro"), ("season.pass", "season")])
    func `what is bought is the customer's when the purchase returns`(
      product: String, right: String
    ) async throws {
      let device = try device()
      let app = try app("app-\(right)", on: device)
      #expect(await app.has(right) == false)
      let order = try completed(try await app.buy(product))
      #expect(order.state == "completed" && !order.mismatched)
      #expect(await app.has(right))
      #expect(await device.unfinished().isEmpty)
      #expect(try await app.products().contains { $0.id == product })
    }

    @Test func `a consumable is credited once, however often its proof is brought`() async throws {
      let device = try device()
      let app = try app("app-coins", on: device)
      _ = try completed(try await app.buy("coins.100", quantity: 2))
      for transaction in await device.everything { _ = await app.settle(transaction) }
      _ = try await eventually("the coins came") {
        try await way.balances("app-coins").amount("coins") == 200 ? true : nil
      }
      _ = try await way.quiet()
      #expect(try await way.balances("app-coins").amount("coins") == 200)
    }

    @Test func `a customer who gives up leaves a cancelled order`() async throws {
      let device = try device()
      await device.set(.givesUp)
      guard case .cancelled(let order) = try await app("app-cancel", on: device).buy("themes.all")
      else {
        Issue.record("not cancelled")
        return
      }
      #expect(try await way.order(order.id).state == .cancelled)
    }

    @Test func `what a parent approves while the app runs is settled by itself`() async throws {
      let device = try device()
      let app = try app("app-child", on: device)
      await app.start()
      await device.set(.asksParent)
      guard case .pending(let order) = try await app.buy("themes.all") else {
        Issue.record("not pending")
        return
      }
      #expect(try await way.order(order.id).state == .pending)
      try await device.approve()
      _ = try await eventually("the order is completed and finished") {
        let isDone = await device.unfinished().isEmpty
        return try await way.order(order.id).state == .completed && isDone ? true : nil
      }
      #expect(await app.has("themes"))
    }

    @Test func `an app that is killed between purchase and proof loses nothing`() async throws {
      let device = try device()
      let killed = try app("app-killed", on: device, cut: true)
      guard case .submitted(let order) = try await killed.buy("themes.all") else {
        Issue.record("not submitted")
        return
      }
      #expect(await device.unfinished().count == 1)
      let next = try app("app-killed", on: device)
      #expect(await next.start() == [.recorded])
      #expect(await device.unfinished().isEmpty)
      #expect(try await way.order(order.id).state == .completed)
      #expect(await next.has("themes"))
    }

    @Test func `a proof that is posted while nobody verifies is settled later`() async throws {
      let way = try way
      let device = try device()
      let app = try app("app-outage", on: device, wait: 1)
      try await way.end("verify-service", by: 15)
      let bought = try await app.buy("themes.all")
      guard case .submitted(let order) = bought else {
        Issue.record("\(bought)")
        return
      }
      #expect(order.state == "submitted")
      #expect(await device.unfinished().count == 1)
      #expect(await app.settleUnfinished() == [.later])
      try await way.launch("verify-service")
      try await way.ready("verify-service")
      _ = try await eventually("it is settled") {
        await app.settleUnfinished() == [.recorded] ? true : nil
      }
      #expect(await device.unfinished().isEmpty)
      #expect(try await way.order(order.id).state == .completed)
    }

    @Test func `on a new device the customer has what was bought on the old one`() async throws {
      let account = AppleAccount()
      let old = try app("app-moved", on: try device(account))
      for product in ["themes.all", "pro.yearly"] { _ = try completed(try await old.buy(product)) }
      let new = try app("app-moved", on: try device(account))
      #expect(await new.has("themes"))
      let restored = try #require(try await new.restore(asksApple: true))
      #expect(
        restored.decided
          && restored.items.map(\.outcome) == ["already-recorded", "already-recorded"])
      // A restore at every launch changes nothing.
      #expect(try await new.restore() == restored)
      // Another customer of the same Apple account: the default policy moves what it restores.
      let other = try app("app-other", on: try device(account))
      _ = try await other.restore(asksApple: true)
      _ = try await eventually("it has moved or was explained") {
        let moved = await other.has("themes")
        let stays = await new.has("themes")
        return moved != stays ? true : nil
      }
    }

    @Test func `a refund while the app was closed is known at its next start`() async throws {
      let way = try way
      let device = try device()
      _ = try completed(try await app("app-refund", on: device).buy("themes.all"))
      let bought = try #require(await device.everything.first)
      try await way.apple("transactions/\(bought.id)/refund")
      let next = try app("app-refund", on: device)
      await next.start()
      _ = try await eventually("the right went") { await next.has("themes") ? nil : true }
    }

    @Test func `a product that the server adds is sold without an update of the app`() async throws
    {
      let way = try way
      let app = try app("app-list", on: try device())
      #expect(try await app.products().contains { $0.id == "gems.50" } == false)
      let path = way.plan.file("own-catalog.json")
      let text = String(
        decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
      let added = text.replacing(
        "\"products\": {",
        with:
          "\"products\": { \"gems.50\": { \"kind\": \"consumable\", \"displayPrice\": \"0.99\", \"credits\": { \"gems\": 50 } },",
        maxReplacements: 1)
      try Data(added.utf8).write(to: URL(filePath: path), options: .atomic)
      _ = try await eventually("the list has it") {
        try await app.products().contains { $0.id == "gems.50" } ? true : nil
      }
    }
  }
}
