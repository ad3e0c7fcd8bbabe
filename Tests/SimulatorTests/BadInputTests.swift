import FoundationEssentials
import Processes
import ServiceRuntime
import TestSupport
import Testing

@testable import app_store_simulator

@Suite("Bad input", .timeLimit(.minutes(2)))
struct BadInputTests {
  private struct Case {
    let path: String
    let body: String
    let status: Int
    let type: String

    init(_ path: String, _ body: String, _ status: Int, _ type: String) {
      self.path = "/control/" + path
      self.body = body
      self.status = status
      self.type = "urn:purser:problem:" + type
    }
  }

  @Test func `every fault is a problem document with its own type`() async throws {
    let simulator = try await RunningSimulator()
    let coins = try await simulator.post("/control/purchases", "{\"productId\":\"coins\"}")
    let coin = try #require(coins.body.transactionId)
    _ = try await simulator.post("/control/transactions/\(coin)/refund")
    let bought = try await simulator.post("/control/purchases", "{\"productId\":\"pro.weekly\"}")
    let ended = try #require(bought.body.originalTransactionId)
    _ = try await simulator.post("/control/transactions/\(ended)/refund")
    let cases = [
      Case("purchases", "{", 400, "invalid-json"),
      Case("purchases", "{}", 400, "invalid-field"),
      Case("purchases", "{\"productId\":7}", 400, "invalid-field"),
      Case("purchases", "{\"productId\":\"gems\"}", 422, "unknown-product"),
      Case("purchases", "{\"productId\":\"coins\",\"quantity\":11}", 422, "invalid-quantity"),
      Case("purchases", "{\"productId\":\"themes\",\"quantity\":2}", 422, "invalid-quantity"),
      Case(
        "purchases", "{\"productId\":\"coins\",\"appAccountToken\":\"me\"}", 422, "invalid-token"),
      Case(
        "purchases", "{\"productId\":\"coins\",\"storefront\":\"XX\"}", 422, "unknown-storefront"),
      Case("purchases", "{\"productId\":\"news\",\"offer\":\"no\"}", 422, "unknown-offer"),
      Case("purchases/bulk", "{\"productId\":\"coins\",\"count\":0}", 422, "invalid-count"),
      Case("transactions/1/refund", "", 404, "unknown-transaction"),
      Case("transactions/\(coin)/refund", "", 409, "already-refunded"),
      Case("transactions/\(coin)/refund", "[]", 400, "invalid-field"),
      Case("subscriptions/\(coin)/renew", "", 404, "unknown-subscription"),
      Case("subscriptions/\(ended)/renew", "", 409, "subscription-ended"),
      Case("subscriptions/\(ended)/cancel", "", 409, "subscription-ended"),
      Case("clock", "{}", 422, "invalid-clock-move"),
      Case("clock", "{\"advanceSeconds\":-1}", 422, "invalid-clock-move"),
      Case("clock", "{\"set\":1}", 422, "invalid-clock-move"),
      Case("clock", "{\"advanceSeconds\":1e12}", 422, "invalid-clock-move"),
      Case("clock", "{\"advanceSeconds\":1,\"pauseMilliseconds\":-1}", 422, "invalid-clock-move"),
      Case("notifications/nothing/redeliver", "", 404, "unknown-notification"),
      Case("forge", "{\"kind\":\"gold\"}", 422, "unknown-forgery"),
      Case("forge", "{\"kind\":\"xcode\",\"transactionId\":\"9\"}", 404, "unknown-transaction"),
    ]
    for one in cases {
      let answer = try await simulator.post(one.path, one.body)
      #expect(answer.status == one.status, "\(one.path) \(one.body): \(answer.text)")
      #expect(answer.body.type == one.type, "\(one.path) \(one.body): \(answer.text)")
      #expect(answer.body.detail?.isEmpty == false)
    }
    #expect(try await simulator.get("/control/notifications?limit=0").status == 400)
    #expect(try await simulator.get("/control/subscriptions/5").status == 404)
  }

  @Test func `a full mailbox refuses what would notify, until it is emptied`() async throws {
    let receiver = try Receiver()
    let simulator = try await RunningSimulator(
      notificationURL: receiver.url, settings: ["SIMULATOR_NOTIFICATION_QUEUE": "2"])
    _ = try await simulator.post("/control/notifications/pause")
    for status in [201, 201, 503] {
      let answer = try await simulator.post("/control/purchases", "{\"productId\":\"coins\"}")
      #expect(answer.status == status)
    }
    let quiet = "{\"productId\":\"coins\",\"notify\":false}"
    #expect(try await simulator.post("/control/purchases", quiet).status == 201)
    _ = try await simulator.post("/control/notifications/resume")
    _ = try await receiver.notifications(2, simulator.verifier())
    let answer = try await eventually("room for one more") {
      let answer = try await simulator.post("/control/purchases", "{\"productId\":\"coins\"}")
      return answer.status == 201 ? answer : nil
    }
    #expect(answer.body.notificationUUID != nil)
    await receiver.stop()
  }

  @Test func `every fault of the settings is named at once, with exit code 78`() async throws {
    let log = TestFolder.path("simulator-settings")
    defer { try? FileManager.default.removeItem(atPath: log) }
    let process = try SimulatorProcess.start(
      environment: [
        "SIMULATOR_HTTP_PORT": "http", "SIMULATOR_ENVIRONMENT": "Production",
        "SIMULATOR_CATALOG": "/nowhere.storekit", "SIMULATOR_NOTIFICATION_URL": "ftp://x",
        "SIMULATOR_STOREFRONT": "Mars",
      ], log: log)
    #expect(await process.ending.value() == .exit(78))
    let text = RunningSimulator.text(log)
    for name in [
      "HTTP_PORT", "APP_APPLE_ID", "CATALOG", "NOTIFICATION_URL", "STOREFRONT", "BUNDLE_ID",
    ] {
      #expect(text.contains("SIMULATOR_\(name)"), "\(text)")
    }
  }

  @Test func `help lists the settings`() async throws {
    let log = TestFolder.path("simulator-help")
    defer { try? FileManager.default.removeItem(atPath: log) }
    let process = try SimulatorProcess.start(["--help"], log: log)
    #expect(await process.ending.value() == .exit(0))
    let text = RunningSimulator.text(log)
    #expect(text.contains("SIMULATOR_CLOCK_FILE"))
    #expect(text.contains("SIMULATOR_NOTIFICATION_LANES"))
  }
}
