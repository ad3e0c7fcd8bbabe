import AppStore
import HTTPClient
import TestSupport
import Testing

@Suite("API pages")
struct APIPagesTests {
  private func page(_ revision: String?, _ hasMore: Bool, _ transactions: String) -> HTTPResponse {
    let revision = revision.map { "\"revision\":\"\($0)\"," } ?? ""
    return .json(
      "{\(revision)\"hasMore\":\(hasMore),\"signedTransactions\":[\(transactions)]}")
  }

  private func read(
    _ world: APIWorld, from revision: String? = nil, limit: Int = 100
  ) async throws -> (transactions: [String], error: APIError?) {
    var query = HistoryQuery()
    query.productIds = ["a"]
    var transactions: [String] = []
    let pages = try world.client().historyPages("1", query, from: revision, limit: limit)
    do {
      for try await page in pages { transactions += page.signedTransactions }
      return (transactions, nil)
    } catch {
      return (transactions, error)
    }
  }

  @Test func `pages follow each other with the same query and the last revision`() async throws {
    let world = try APIWorld(
      ScriptedApple(
        page("r1", true, "\"a\",\"b\""), page("r2", true, ""), page("r3", false, "\"c\"")))
    let (transactions, error) = try await read(world)
    #expect(transactions == ["a", "b", "c"] && error == nil)
    let base = "https://local-testing-base-url/inApps/v2/history/1?"
    #expect(
      world.apple.asked.map(\.url) == [
        base + "productId=a", base + "revision=r1&productId=a", base + "revision=r2&productId=a",
      ])
  }

  @Test func `a revision that was kept is where reading goes on`() async throws {
    let world = try APIWorld(ScriptedApple(page("r3", false, "\"c\"")))
    #expect(try await read(world, from: "r2").transactions == ["c"])
    #expect(world.apple.asked.first?.url.contains("revision=r2") == true)
  }

  @Test func `a retryable failure in between is not seen, a final one ends the pages`()
    async throws
  {
    let world = try APIWorld(
      ScriptedApple(
        page("r1", true, "\"a\""), .refusal(5_000_001), page("r2", true, "\"b\""),
        .refusal(4_000_005)))
    let (transactions, error) = try await read(world)
    #expect(transactions == ["a", "b"] && error?.code == .invalidRequestRevision)
  }

  @Test func `pages that lead nowhere or have no end are given up`() async throws {
    for second in [page("r1", true, "\"b\""), page(nil, true, "\"b\"")] {
      let world = try APIWorld(ScriptedApple(page("r1", true, "\"a\""), second))
      let (_, error) = try await read(world)
      #expect(error?.kind == .endlessPages && world.apple.asked.count == 2)
    }
    let endless = (0..<10).map { page("r\($0)", true, "\"\($0)\"") }
    let world = try APIWorld(ScriptedApple(endless.map { .success($0) }))
    let (transactions, error) = try await read(world, limit: 3)
    #expect(transactions == ["0", "1", "2"] && error?.kind == .endlessPages)
    #expect(world.apple.asked.count == 3)
  }

  @Test func `refunds and notifications have pages too`() async throws {
    let refunds = try APIWorld(
      ScriptedApple(.file("getRefundHistoryResponse"), page("r2", false, "\"c\"")))
    var seen: [String] = []
    for try await page in try refunds.client().refundPages("5") { seen += page.signedTransactions }
    #expect(seen == ["signed_transaction_one", "signed_transaction_two", "c"])
    #expect(refunds.apple.asked.last?.url.hasSuffix("lookup/5?revision=revision_output") == true)

    let notifications = try APIWorld(
      ScriptedApple(
        .file("getNotificationHistoryResponse"),
        .json("{\"hasMore\":false,\"notificationHistory\":[{\"signedPayload\":\"c\"}]}")))
    let query = NotificationHistoryQuery(startDate: 1, endDate: 2)
    var payloads: [String?] = []
    for try await page in try notifications.client().notificationPages(query) {
      payloads += page.notificationHistory.map(\.signedPayload)
    }
    #expect(payloads == ["signed_payload_one", "signed_payload_two", "c"])
    let asked = notifications.apple.asked
    #expect(
      asked.last?.url.hasSuffix("?paginationToken=57715481-805a-4283-8499-1c19b5d6b20a") == true)
    #expect(asked[0].body == asked[1].body)
  }
}
