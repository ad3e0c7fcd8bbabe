import Events
import FoundationEssentials
import Glibc
import HTTPClient
import Processes
import ServiceRuntime
import Testing

@testable import purser

extension WholeWay {
  /// What asks Apple's API, against a simulator that can fail in Apple's ways.
  @Suite("What asks Apple", .serialized, .wayWithApple, .timeLimit(.minutes(6)))
  struct AppleTests {
    private var way: Way { get throws { try WholeWay.way } }

    private static let day: Int64 = 86_400_000

    private struct Jobs: Decodable {
      struct BackFill: Decodable {
        let doneUntil: Int64
        let isReading: Bool
        let fetched: Int64
        let recovered: Int64
      }

      let backFill: [BackFill]
      let importsWaiting: Int64
      let consumption: [Consumption]

      struct Consumption: Decodable {
        let state: String
        let requests: Int64
      }
    }

    private func jobs() async throws -> Jobs {
      try await way.ask("GET", "verify-service", "/v1/admin/jobs", as: Jobs.self)
    }

    /// Lets attempts of Apple fail, or arrive again.
    private func setOutage(_ isOutage: Bool) async throws {
      struct Gate: Decodable { let outage: Bool }
      _ = try await way.ask(
        "POST", "app-store-simulator",
        "/control/notifications/\(isOutage ? "outage" : "recover")", as: Gate.self)
    }

    private struct Fault: Encodable {
      var kind: String
      var endpoint: String?
      var count: Int?
      var milliseconds: Int?
      var status: Int?
      var errorCode: Int?
    }

    private struct Anything: Decodable {}

    private func set(_ fault: Fault) async throws {
      _ = try await way.ask(
        "POST", "app-store-simulator", "/control/faults", fault, status: [201], as: Anything.self)
    }

    private func clearFaults() async throws {
      _ = try await way.ask(
        "DELETE", "app-store-simulator", "/control/faults", as: Anything.self)
    }

    /// Waits until back-fill has read all that Apple sent until now.
    private func backFilled() async throws {
      let now = try await way.now()
      _ = try await eventually("back-fill has read up to now") {
        let jobs = try? await jobs().backFill
        return jobs?.allSatisfy { $0.doneUntil >= now } == true && jobs?.isEmpty == false
          ? true : nil
      }
    }

    /// Notifications that never arrived.
    private func missed() async throws -> Set<String> {
      Set(try await way.notifications("state=failed&limit=1000").map(\.notificationUUID))
    }

    private func facts(of uuids: Set<String>) async throws -> [String: [AppStoreFact]] {
      try await way.journal.catchUp()
      let facts = try way.journal.all(AppStoreFact.self) { fact in
        fact.notificationUUID.map { uuids.contains($0) } ?? false
      }
      return Dictionary(grouping: facts) { $0.notificationUUID ?? "" }
    }

    @Test
    func `a refund that nobody told of is found by the sweep through the refund histories`()
      async throws
    {
      let way = try way
      let order = try await way.order("refunded", "themes.all")
      let bought = try await way.buy("themes.all", token: order.id)
      _ = try await eventually("the themes are there") {
        try await way.owned("refunded").active("themes")
      }
      // The history of a new customer is asked for too, and would tell of the refund as well.
      _ = try await eventually("the customer's history is imported") {
        try await jobs().importsWaiting == 0 ? true : nil
      }
      let id = try #require(bought.transactionId)
      try await way.apple("transactions/\(id)/refund", notify: false)
      try await way.advance(to: try await way.now() + 8 * Self.day)
      _ = try await eventually("the refund is known") {
        try await way.owned("refunded").active("themes") == nil ? true : nil
      }
      let state = try await way.journal.first(LineageState.self, "the refund is published") {
        $0.lineage.originalTransactionId == id && $0.transactions.last?.revocationDate != nil
      }
      #expect(state.cause.kind == "reconcile")
    }

    @Test
    func `after an outage of two days every missed notification is recovered, once`() async throws {
      let way = try way
      let early = try await way.order("absent", "pro.monthly")
      let subscription = try await way.buy("pro.monthly", token: early.id)
      _ = try await eventually("the subscription is active") {
        try await way.owned("absent").active("pro")
      }
      let before = try await missed()
      try await way.end("verify-service", by: SIGKILL)
      try await setOutage(true)
      var orders: [Order] = []
      for _ in 0..<45 { orders.append(try await way.order("absent", "coins.100")) }
      var last: Bought?
      for order in orders.prefix(25) { last = try await way.buy("coins.100", token: order.id) }
      try await way.advance(to: try await way.now() + Self.day)
      for order in orders.dropFirst(25) { last = try await way.buy("coins.100", token: order.id) }
      let id = try #require(subscription.originalTransactionId)
      try await way.apple("subscriptions/\(id)/cancel")
      try await way.apple("transactions/\(try #require(last?.transactionId))/refund")
      try await way.advance(to: try await way.now() + Self.day)
      try await setOutage(false)
      let lost = try await eventually("Apple has given up all of them") {
        let lost = try await missed().subtracting(before)
        return lost.count >= 47 ? lost : nil
      }
      #expect(lost.count == 47)

      // Killed again in the middle of the window: it goes on where it was.
      try await set(Fault(kind: "slow", endpoint: "notification-history", milliseconds: 300))
      try await way.launch("verify-service")
      _ = try await eventually("back-fill is under way") {
        let jobs = try? await jobs().backFill.first
        return jobs.map { $0.isReading && $0.recovered > 0 } == true ? true : nil
      }
      try await way.end("verify-service", by: SIGKILL)
      try await clearFaults()
      try await way.launch("verify-service")
      try await way.ready("verify-service")
      try await backFilled()

      // The window is closed in the COMMIT that publishes; the broker has it a moment later.
      let found = try await eventually("every missed notification is recorded") {
        let found = try await facts(of: lost)
        return Set(found.keys) == lost ? found : nil
      }
      for (uuid, facts) in found {
        // A kill may send a record again: then it is the same event.
        #expect(Set(facts.map(\.hash)).count == 1, "\(uuid) came with different texts")
        #expect(facts.allSatisfy { $0.source == .backFill })
      }
      _ = try await eventually("the balance counts 44 purchases") {
        try await way.balances("absent").amount("coins") == 4_400 ? true : nil
      }
      #expect(try await way.owned("absent").active("pro") != nil)
      _ = try await way.journal.first(LineageState.self, "the cancellation was heard of") {
        $0.lineage.originalTransactionId == id && $0.renewal?.autoRenewStatus == 0
      }
    }

    @Test(arguments: [
      "slow", "down", "unauthorized", "rate-limit", "garbled", "burst", "html", "foreign",
    ])
    func `while Apple fails, proofs are decided and back-fill goes on afterwards`(
      fault: String
    ) async throws {
      let way = try way
      let faults: [String: Fault] = [
        "slow": Fault(kind: "slow", milliseconds: 1_500), "down": Fault(kind: "down"),
        "unauthorized": Fault(kind: "unauthorized"),
        "rate-limit": Fault(kind: "rate-limit", milliseconds: 500),
        "garbled": Fault(kind: "garbled"),
        "burst": Fault(kind: "error", count: 12, errorCode: 5_000_001),
        "html": Fault(kind: "status", status: 502),
        "foreign": Fault(kind: "foreign-environment"),
      ]
      try await set(try #require(faults[fault]))
      try await setOutage(true)
      let customer = "apple-\(fault)"
      let order = try await way.order(customer, "themes.all")
      let bought = try await way.buy("themes.all", token: order.id)
      let proved = try await way.prove(order.id, try #require(bought.signedTransaction))
      #expect(proved.finish, "the proof needs no answer of Apple's")
      let other = try await way.order(customer, "coins.100")
      let coins = try await way.buy("coins.100", token: other.id)
      let uuid = try #require(coins.notificationUUID)
      _ = try await eventually("Apple has given it up") {
        try await missed().contains(uuid) ? true : nil
      }
      try await setOutage(false)
      try await clearFaults()
      _ = try await eventually("the coins are there") {
        try await way.balances(customer).amount("coins") == 100 ? true : nil
      }
      let found = try await facts(of: [uuid])
      #expect(found[uuid]?.count == 1 && found[uuid]?.first?.environment == "Sandbox")
    }

    @Test
    func `a renewal that nobody told of is found by asking, once its date has passed`() async throws
    {
      let way = try way
      let order = try await way.order("forgotten", "pro.monthly")
      let bought = try await way.buy("pro.monthly", token: order.id)
      let id = try #require(bought.originalTransactionId)
      let first = try await eventually("the subscription is active") {
        try await way.owned("forgotten").active("pro")
      }
      let renewed = try await way.apple("subscriptions/\(id)/renew", notify: false)
      let end = try #require(first.expiresAt)
      try await way.advance(to: end + 60_000)
      let later = try await eventually("the renewal is known") {
        let active = try await way.owned("forgotten").active("pro")
        return active?.expiresAt == renewed.expiresDate ? active : nil
      }
      #expect(later.isActive)
      _ = try await way.journal.first(LineageState.self, "the answer is published") {
        $0.lineage.originalTransactionId == id && $0.cause.kind == "reconcile"
      }
    }

    @Test
    func `what a customer bought before is imported at first sight, and marked`() async throws {
      let way = try way
      // Never told: bought before Purser was there.
      let order = try await way.order("veteran", "themes.all")
      let old = try await way.buy("themes.all", token: order.id, notify: false)
      _ = try await way.buy("coins.100", token: order.id)
      _ = try await eventually("the old purchase is known") {
        try await way.owned("veteran").active("themes")
      }
      let state = try await way.journal.first(LineageState.self, "it is published") {
        $0.lineage.originalTransactionId == old.originalTransactionId
      }
      #expect(state.cause.kind == "import")
    }

    @Test
    func `a file of ids and signed transactions is imported, and what is useless is named`()
      async throws
    {
      let way = try way
      let byId = try await way.buy("themes.all", notify: false)
      let signed = try await way.buy("season.pass", notify: false)
      let file = way.plan.file("customers.csv")
      try """
      transactionId,signedTransaction
      \(try #require(byId.transactionId)),

      ,\(try #require(signed.signedTransaction))
      4200000000000000,
      nobody,

      """.write(toFile: file, atomically: true, encoding: .utf8)
      let program = ChildProcess.Program(
        name: "purser-import", executable: "\(way.plan.places.executables)/purser",
        arguments: [
          "import", file, "--app", way.plan.bundleID, "--environment", "Sandbox", "--url",
          way.plan.verifyURL,
        ],
        environment: ["PURSER_ADMIN_KEY": way.plan.apiKey, "PATH": "/usr/bin:/bin"],
        logFile: way.plan.file("import.log"))
      for run in ["first", "second"] {
        let child = try await offPool { try ChildProcess(program) }
        #expect(await child.ending.value() == .exit(1), "two lines are useless")
        let log = child.lastLogLines(30).joined(separator: "\n")
        #expect(log.contains("4 records taken, 2 done, 2 failed"), "\(run): \(log)")
        #expect(log.contains("line 6: neither a transaction id"), "\(run): \(log)")
        #expect(log.contains("line 5: "), "\(run): \(log)")
      }
      for bought in [byId, signed] {
        let state = try await way.journal.first(LineageState.self, "it is imported") {
          $0.lineage.originalTransactionId == bought.originalTransactionId
        }
        #expect(state.cause.kind == "import")
      }
    }

    @Test
    func `people ask through this service, and what Apple answers is recorded`() async throws {
      let way = try way
      let order = try await way.order("asked", "pro.monthly")
      let id = try #require(
        try await way.buy("pro.monthly", notify: false).originalTransactionId)
      // Apple extends no free trial.
      let bought = try await way.apple("subscriptions/\(id)/renew", notify: false)
      struct Place: Encodable {
        var bundleId: String
        var environment: String? = "Sandbox"
        var appAccountToken: String?
        var days: Int?
        var requestIdentifier: String?
        var productId: String?
      }
      struct Refreshed: Decodable {
        let lineage: String
        let transaction: LineageTransaction
        let renewal: LineageRenewal?
        let status: Int64?
        let recorded: Int
      }
      let app = way.plan.bundleID
      let refreshed = try await way.ask(
        "POST", "verify-service", "/v1/admin/transactions/\(id)/refresh", Place(bundleId: app),
        as: Refreshed.self)
      #expect(refreshed.status == 1 && refreshed.recorded == 3, "two periods and what comes next")
      let again = try await way.ask(
        "POST", "verify-service", "/v1/admin/transactions/\(id)/refresh",
        Place(bundleId: app, environment: nil), as: Refreshed.self)
      #expect(again.recorded == 0, "a copy that was only signed anew is no news")
      let tokened = try await way.ask(
        "PUT", "verify-service", "/v1/admin/transactions/\(id)/app-account-token",
        Place(bundleId: app, appAccountToken: order.id), as: Refreshed.self)
      #expect(tokened.recorded > 0, "the current period bears the token now")
      _ = try await eventually("the token's customer has it") {
        try await way.owned("asked").active("pro")
      }
      struct Extension: Decodable { let success: Bool }
      let extended = try await way.ask(
        "POST", "verify-service", "/v1/admin/subscriptions/\(id)/extend",
        Place(bundleId: app, days: 30, requestIdentifier: "support-1"), as: Extension.self)
      #expect(extended.success)
      let expected = try #require(bought.expiresDate) + 30 * Self.day
      _ = try await eventually("the extension is heard of") {
        try await way.owned("asked").active("pro")?.expiresAt == expected ? true : nil
      }
      struct Mass: Decodable { let requestIdentifier: String }
      _ = try await way.ask(
        "POST", "verify-service", "/v1/admin/extensions",
        Place(bundleId: app, days: 1, requestIdentifier: "outage", productId: "pro.yearly"),
        status: [202], as: Mass.self)
      struct Complete: Decodable { let isComplete: Bool }
      #expect(
        try await way.ask(
          "GET", "verify-service",
          "/v1/admin/extensions/pro.yearly/outage?bundleId=\(app)&environment=Sandbox",
          as: Complete.self
        ).isComplete)
      struct Token: Decodable { let token: String }
      let test = try await way.ask(
        "POST", "verify-service", "/v1/admin/test-notifications", Place(bundleId: app),
        status: [202], as: Token.self)
      struct Outcome: Decodable { let hasArrived: Bool }
      _ = try await eventually("the test notification has arrived") { () -> Bool? in
        let answer = try await way.send(
          "GET", "verify-service",
          "/v1/admin/test-notifications/\(test.token)?bundleId=\(app)&environment=Sandbox")
        guard answer.status == 200 else { return nil }
        return try JSONDecoder().decode(Outcome.self, from: Data(answer.body)).hasArrived
          ? true : nil
      }
      let unknown = try await way.send(
        "POST", "verify-service", "/v1/admin/transactions/42/refresh",
        body: Array("{\"bundleId\":\"\(app)\"}".utf8))
      try BadInput.expect(unknown, 404, "apple-not-found")
      let other = try await way.send(
        "POST", "verify-service", "/v1/admin/transactions/42/refresh",
        body: Array("{\"bundleId\":\"com.example.none\"}".utf8))
      try BadInput.expect(other, 409, "no-api-key")
      let stranger = try await way.send("GET", "verify-service", "/v1/admin/jobs", key: "")
      try BadInput.expect(stranger, 401, "missing-key")
    }
  }
}
