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
      _ customer: String, on device: SimulatedDevice, wait: Int = 20, cut: Bool = false,
      version: String? = nil
    ) throws -> Purser {
      let way = try way
      var configuration = PurserConfiguration(
        orders: way.plan.orderURL, entitlements: way.plan.entitlementURL, customer: customer,
        appVersion: version, token: { way.plan.apiKey })
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

    /// Changes the catalog while everything runs.
    private func change(_ text: String, _ new: String) throws {
      let path = try way.plan.file("own-catalog.json")
      let old = String(
        decoding: try #require(FileManager.default.contents(atPath: path)), as: UTF8.self)
      try #require(old.contains(text))
      try Data(old.replacing(text, with: new, maxReplacements: 1).utf8)
        .write(to: URL(filePath: path), options: .atomic)
    }

    @Test func `a restore of more than one request takes everything back`() async throws {
      let way = try way
      let device = try device()
      for _ in 0..<85 { _ = try await device.purchase("coins.100", quantity: 1, token: uuid()) }
      let restored = try #require(try await app("app-many", on: device).restore())
      #expect(restored.decided && restored.ids.count == 2 && restored.items.count == 85)
      #expect(restored.items.allSatisfy { $0.outcome == "accepted" && $0.finish })
      #expect(await device.unfinished().isEmpty)
      _ = try await eventually("the coins came") {
        try await way.balances("app-many").amount("coins") == 8500 ? true : nil
      }
    }

    private func uuid() -> String { UUID().uuidString.lowercased() }

    @Test func `a paywall follows the catalog by place and version, and sells what it shows`()
      async throws
    {
      try change(
        #""products": {"#,
        #"""
        "offerings": [
          { "id": "main", "default": true,
            "packages": [{ "id": "monthly", "product": "pro.monthly" }] },
          { "id": "welcome", "placements": ["onboarding"], "appVersions": { "from": "2.0" },
            "packages": [{ "id": "new", "product": "gems.new" }] }
        ],
        "products": { "gems.new": { "kind": "consumable", "displayPrice": "0.99",
          "credits": { "gems": 1 }, "appVersions": { "from": "2.0" } },
        """#)
      let device = try device()
      let new = try app("app-new", on: device, version: "2.1")
      let old = try app("app-old", on: device, version: "1.9")
      _ = try await eventually("the paywall is there") {
        try await new.offerings(placement: "onboarding").current == "welcome" ? true : nil
      }
      #expect(try await old.offerings(placement: "onboarding").current == "main")
      #expect(try await new.offerings().offering?.packages.map(\.product.id) == ["pro.monthly"])
      #expect(try await old.products().contains { $0.id == "gems.new" } == false)
      let refused = await #expect(throws: PurserError.self) { _ = try await old.buy("gems.new") }
      guard case .refused(let refusal)? = refused else {
        Issue.record("\(String(describing: refused))")
        return
      }
      #expect(refusal.type == "not-for-sale")
      #expect(await device.everything.isEmpty, "nobody paid")
    }

    @Test func `a product that the server adds is sold without an update of the app`() async throws
    {
      let app = try app("app-list", on: try device())
      #expect(try await app.products().contains { $0.id == "gems.50" } == false)
      try change(
        "\"products\": {",
        "\"products\": { \"gems.50\": { \"kind\": \"consumable\", \"displayPrice\": \"0.99\", \"credits\": { \"gems\": 50 } },"
      )
      _ = try await eventually("the list has it") {
        try await app.products().contains { $0.id == "gems.50" } ? true : nil
      }
    }
  }
}
