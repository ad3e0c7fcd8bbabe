import FoundationEssentials
import HTTPServer
import Testing

@testable import entitlement_service

/// What several shards say of an endpoint, as one answer.
@Suite("Webhooks of all shards") struct WebhookSpreadTests {
  private static func endpoint(_ id: String, _ more: String = #""isEnabled":true"#) -> String {
    #"{"id":"\#(id)","url":"https://shop.example","types":[],"bundleIds":[],"environments":[],"#
      + #""description":"","author":"ops","createdAt":1,\#(more)}"#
  }

  @Test func `an endpoint is as well as on the shard where it fares worst`() throws {
    let answer = try WebhookSpread.endpoint.combine([
      .json(bytes: Array(Self.endpoint("a").utf8)),
      .json(
        bytes: Array(
          Self.endpoint("a", #""isEnabled":true,"failingSince":30,"lastError":"refused""#).utf8)),
      .json(
        bytes: Array(
          Self.endpoint(
            "a", #""isEnabled":false,"failingSince":20,"disabledAt":90,"disabledReason":"gone""#
          ).utf8)),
    ])
    let one = try JSONDecoder().decode(EndpointAnswer.self, from: Data(answer.body))
    #expect(!one.isEnabled)
    #expect(one.failingSince == 20)
    #expect(one.disabledAt == 90)
    #expect(one.lastError == "refused")
    #expect(one.disabledReason == "gone")
  }

  @Test func `the list tells each endpoint once, with what all shards say of it`() throws {
    let answer = try WebhookSpread.endpoints.combine([
      .json(bytes: Array(#"{"webhooks":[\#(Self.endpoint("a")),\#(Self.endpoint("b"))]}"#.utf8)),
      .json(
        bytes: Array(
          #"{"webhooks":[\#(Self.endpoint("b", #""isEnabled":true,"failingSince":7"#)),\#(Self.endpoint("a"))]}"#
            .utf8)),
    ])
    let list = try JSONDecoder().decode(EndpointList.self, from: Data(answer.body)).webhooks
    #expect(list.map(\.id) == ["a", "b"])
    #expect(list.map(\.failingSince) == [nil, 7])
  }
}
