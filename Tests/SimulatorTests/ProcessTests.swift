import AppStore
import FoundationEssentials
import Glibc
import HTTPServer
import Processes
import ServiceRuntime
import Testing

@testable import app_store_simulator

@Suite("The executable", .timeLimit(.minutes(2)))
struct ProcessTests {
  private let token = "7B2FC3F6-7C0E-4C41-9F0D-2F1A0B6F8D11"

  @Test func `a purchase is signed under the written root, and ends cleanly on SIGTERM`()
    async throws
  {
    let simulator = try await RunningSimulator()
    #expect(try await simulator.get("/healthz").status == 200)
    #expect(try await simulator.get("/readyz").status == 200)
    let answer = try await simulator.post(
      "/control/purchases",
      "{\"productId\":\"coins\",\"quantity\":3,\"appAccountToken\":\"\(token)\"}")
    #expect(answer.status == 201)
    let signed = try #require(answer.body.signedTransaction)
    let transaction = try simulator.verifier().verifyTransaction(signed).payload
    #expect(transaction.transactionId == answer.body.transactionId)
    #expect(transaction.quantity == 3)
    #expect(transaction.appAccountToken == token.lowercased())

    let id = try #require(answer.body.transactionId)
    let again = try await simulator.post("/control/transactions/\(id)/sign")
    let copy = try simulator.verifier().verifyTransaction(
      try #require(again.body.signedTransaction))
    #expect(try #require(copy.payload.signedDate) >= (try #require(transaction.signedDate)))
    #expect(try await simulator.get("/control/products").body.products?.first?.productId == "coins")
    #expect(try await simulator.get("/metrics").text.contains("simulator_happenings_total"))
    simulator.process.send(SIGTERM)
    #expect(await simulator.process.ending.value() == .exit(0))
  }

  @Test func `a moved clock lets everything happen in its order, at its own time`() async throws {
    let receiver = try Receiver()
    let simulator = try await RunningSimulator(notificationURL: receiver.url)
    let verifier = try simulator.verifier()
    let bought = try await simulator.post("/control/purchases", "{\"productId\":\"pro.weekly\"}")
    let original = try #require(bought.body.originalTransactionId)
    let end = try #require(bought.body.expiresDate)
    #expect(
      try await simulator.post("/control/clock", "{\"advanceSeconds\":\(15 * 86_400)}").status
        == 200)
    #expect(
      try await receiver.words(3, verifier) == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW", "DID_RENEW"])
    #expect(
      try await simulator.post("/control/subscriptions/\(original)/cancel").status == 200)
    let clock = try await simulator.post("/control/clock", "{\"set\":\(end + 40 * day)}")
    #expect(try #require(clock.body.now) >= end + 40 * day)
    #expect(
      RunningSimulator.text("\(simulator.folder)/clock") == "\(try #require(clock.body.offset))\n")

    let all = try await receiver.notifications(5, verifier)
    #expect(all[3].notification.payload.subtype == .autoRenewDisabled)
    #expect(all[4].notification.payload.subtype == .voluntary)
    #expect(
      all.map { $0.notification.payload.data?.status } == [
        .active, .active, .active, .active, .expired,
      ])
    // A renewal a minute before the end, the expiry at the end, each signed at that time.
    #expect(all[1].notification.payload.signedDate == end - 60 * second)
    #expect(all[1].transaction?.payload.signedDate == end - 60 * second)
    #expect(all[4].notification.payload.signedDate == end + 14 * day)
    #expect(all[4].renewalInfo?.payload.expirationIntent == .customerCancelled)
    #expect(Set(all.map { $0.transaction?.payload.originalTransactionId }) == [original])
    let subscription = try await simulator.get("/control/subscriptions/\(original)")
    #expect(subscription.body.status == 2)
    #expect(subscription.body.transactionIds?.count == 3)
    await receiver.stop()
  }

  @Test func `in Production failures are repeated byte by byte after Apple's hours`() async throws {
    let receiver = try Receiver(answers: [500, 503, 404])
    let simulator = try await RunningSimulator(
      notificationURL: receiver.url,
      settings: ["SIMULATOR_ENVIRONMENT": "Production", "SIMULATOR_APP_APPLE_ID": "77"])
    let bought = try await simulator.post("/control/purchases", "{\"productId\":\"themes\"}")
    let uuid = try #require(bought.body.notificationUUID)
    _ = try await eventually("the first attempt") { receiver.payloads.first }
    for (hours, count) in [(1, 2), (11, 2), (1, 3), (24, 4)] {
      let move = "{\"advanceSeconds\":\(hours * 3_600 + 30)}"
      #expect(try await simulator.post("/control/clock", move).status == 200)
      #expect(receiver.payloads.count == count)
    }
    #expect(Set(receiver.payloads).count == 1)
    let entry = try await simulator.get("/control/notifications/\(uuid)")
    #expect(entry.body.state == "delivered")
    #expect(entry.body.signedPayload == receiver.payloads.first)
    let attempts = try #require(entry.body.sendAttempts)
    #expect(attempts.map(\.status) == [500, 503, 404, 200])
    #expect(
      attempts.map(\.sendAttemptResult) == [
        "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE",
        "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "SUCCESS",
      ])
    let gaps = zip(attempts.dropFirst(), attempts).map { $0.attemptDate - $1.attemptDate }
    for (gap, hours) in zip(gaps, [1, 12, 24] as [Int64]) {
      #expect((hours * hour..<hours * hour + 30 * second).contains(gap))
    }
    let verified = try simulator.verifier(.production).verifyNotification(receiver.payloads[0])
    #expect(verified.notification.payload.data?.appAppleId == 77)
    await receiver.stop()
  }

  @Test func `held notifications leave in order, and one can be sent again`() async throws {
    let receiver = try Receiver()
    let simulator = try await RunningSimulator(notificationURL: receiver.url)
    #expect(try await simulator.post("/control/notifications/pause").status == 200)
    let first = try await simulator.post("/control/purchases", "{\"productId\":\"coins\"}")
    let silent = try await simulator.post(
      "/control/purchases", "{\"productId\":\"coins\",\"notify\":false}")
    #expect(silent.body.notificationUUID == nil)
    let id = try #require(first.body.transactionId)
    _ = try await simulator.post("/control/transactions/\(id)/refund")
    #expect(try await simulator.post("/control/notifications/test").status == 202)
    #expect(receiver.payloads.isEmpty)
    let waiting = try await simulator.get("/control/notifications?state=waiting")
    #expect(waiting.body.notifications?.count == 3)
    #expect(try await simulator.post("/control/notifications/resume").status == 200)
    #expect(
      try await receiver.words(3, simulator.verifier()) == ["ONE_TIME_CHARGE", "REFUND", "TEST"])

    let uuid = try #require(first.body.notificationUUID)
    let again = try await simulator.post("/control/notifications/\(uuid)/redeliver")
    #expect(again.body.sendAttempts?.map(\.isRedelivery) == [false, true])
    #expect(receiver.payloads.count == 4)
    #expect(receiver.payloads[3] == receiver.payloads[0])
    let filtered = try await simulator.get(
      "/control/notifications?type=REFUND&transactionId=\(id)")
    #expect(filtered.body.notifications?.map(\.notificationType) == ["REFUND"])
    await receiver.stop()
  }

  @Test func `in Sandbox a receiver that is away misses it`() async throws {
    // A port of the system's that nobody listens on.
    let simulator = try await RunningSimulator(notificationURL: "http://127.0.0.1:1/notifications")
    let bought = try await simulator.post("/control/purchases", "{\"productId\":\"season\"}")
    let uuid = try #require(bought.body.notificationUUID)
    let entry = try await eventually("the attempt") {
      let entry = try await simulator.get("/control/notifications/\(uuid)")
      return entry.body.state == "failed" ? entry : nil
    }
    #expect(entry.body.sendAttempts?.map(\.sendAttemptResult) == ["SOCKET_ISSUE"])
    #expect(try await simulator.post("/control/clock", "{\"advanceSeconds\":90000}").status == 200)
    let later = try await simulator.get("/control/notifications/\(uuid)")
    #expect(later.body.sendAttempts?.count == 1)
  }

  @Test func `a receiver that hangs costs its time, and holds up no stop`() async throws {
    // A server that was never run: the kernel takes connections, and nobody answers.
    let server = try Server(port: 0, router: Router(), log: .silent, metrics: Metrics())
    let url = "http://127.0.0.1:\(server.port)/notifications"
    let hasty = try await RunningSimulator(
      notificationURL: url, settings: ["SIMULATOR_NOTIFICATION_TIMEOUT": "1"])
    let bought = try await hasty.post("/control/purchases", "{\"productId\":\"coins\"}")
    let uuid = try #require(bought.body.notificationUUID)
    #expect(try await hasty.post("/control/clock", "{\"advanceSeconds\":60}").status == 200)
    let entry = try await hasty.get("/control/notifications/\(uuid)")
    #expect(entry.body.sendAttempts?.map(\.sendAttemptResult) == ["TIMED_OUT"])

    let patient = try await RunningSimulator(
      notificationURL: url, settings: ["SIMULATOR_NOTIFICATION_TIMEOUT": "60"])
    _ = try await patient.post("/control/purchases", "{\"productId\":\"coins\"}")
    // Of two moves one is refused at once, and then the other one waits for the attempt.
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<2 {
        group.addTask {
          try await patient.post("/control/clock", "{\"advanceSeconds\":60}").status
        }
      }
      let refused = try await group.next()
      #expect(refused == 409)
      let began = ContinuousClock.now
      patient.process.send(SIGTERM)
      #expect(await patient.process.ending.value() == .exit(0))
      #expect(ContinuousClock.now - began < .seconds(8))
      let ended = try await group.next()
      #expect(ended == 503)
    }
    withExtendedLifetime(server) {}
  }

  @Test func `bulk purchases come as lines, refused ones too`() async throws {
    let simulator = try await RunningSimulator()
    let verifier = try simulator.verifier()
    let tokens = (0..<9).map { "7b2fc3f6-7c0e-4c41-9f0d-2f1a0b6f8d1\($0)" } + ["broken"]
    let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
    let answer = try await simulator.post(
      "/control/purchases/bulk", "{\"productId\":\"coins\",\"tokens\":[\(list)]}")
    let lines = answer.text.split(separator: "\n")
    #expect(lines.count == 10)
    for (line, token) in zip(lines.dropLast(), tokens) {
      let body = try JSONDecoder().decode(Answer.Body.self, from: Data(line.utf8))
      let verified = try verifier.verifyTransaction(try #require(body.signedTransaction))
      #expect(verified.payload.appAccountToken == token)
      #expect(verified.payload.transactionId == body.transactionId)
    }
    #expect(lines.last?.contains("urn:purser:problem:invalid-token") == true)
    let many = try await simulator.post(
      "/control/purchases/bulk", "{\"productId\":\"coins\",\"count\":100000}")
    #expect(many.status == 422)
  }

  @Test(arguments: Forgery.Kind.allCases)
  func `forgeries can be had by their names`(kind: Forgery.Kind) async throws {
    let simulator = try await RunningSimulator()
    let answer = try await simulator.post(
      "/control/forge", "{\"kind\":\"\(kind.rawValue)\",\"productId\":\"pro.monthly\"}")
    #expect(answer.status == 200)
    let verifier = try simulator.verifier()
    if kind == .unknownType {
      #expect(answer.body.expected == "kept")
      let signed = try #require(answer.body.signedPayload)
      #expect(throws: Never.self) { try verifier.verifyNotification(signed) }
    } else {
      #expect(answer.body.expected == "refused")
      let signed = try #require(answer.body.signedTransaction)
      #expect(throws: Rejection.self) { try verifier.verifyTransaction(signed) }
    }
  }
}
