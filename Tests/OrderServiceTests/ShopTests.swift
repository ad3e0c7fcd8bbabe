import Events
import HTTPServer
import Testing

@testable import order_service

@Suite("What can be asked of orders") struct ShopTests {
  private let world: OrderWorld

  init() throws { world = try OrderWorld() }

  @Test func `what is not sold any more cannot be ordered, and a proof of it still counts`()
    async throws
  {
    let world = try OrderWorld(
      catalog: """
        {"products": {"coins.old": {"kind": "consumable", "displayPrice": "0.99", "sold": false,
                                    "credits": {"coins": 100}}}}
        """)
    let answer = try await world.send(
      .post, "/v1/orders", #"{"customer":"alice","productId":"coins.old"}"#)
    #expect(answer.status == 422 && answer.problem == "not-for-sale")
    #expect(answer.text.contains("coins.old"))
    let restore = try await world.send(
      .post, "/v1/restores",
      #"{"customer":"alice","signedTransactions":["\#(Proofs.signed("5"))"]}"#)
    #expect(restore.status == 202)
  }

  @Test func `a state that there is not is refused with those that there are`() async throws {
    let answer = try await world.send(.get, "/v1/orders?state=foo")
    #expect(answer.status == 400 && answer.problem == "invalid-parameter")
    for state in [
      "created", "submitted", "pending", "completed", "rejected", "cancelled", "expired",
    ] {
      #expect(answer.text.contains(state))
      #expect(try await world.send(.get, "/v1/orders?state=\(state)").status == 200)
    }
  }
}
