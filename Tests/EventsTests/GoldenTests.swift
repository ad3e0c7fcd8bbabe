import Events
import FoundationEssentials
import TestSupport
import Testing

/// Golden files freeze every published version: a reader of today must read what was written then,
/// every field of it, and write it again as it was.
@Suite("Golden events") struct GoldenTests {
  private typealias RoundTrip = @Sendable ([UInt8]) throws -> [UInt8]

  /// Reads a golden file into its type and writes it again.
  private static let roundTrips: [String: RoundTrip] = [
    "token-issued.v1": roundTrip(TokenIssued.self),
    "customer.merged.v1": roundTrip(CustomerMerged.self),
    "customer.lineage-transferred.v1": roundTrip(LineageTransferred.self),
    "customer.erased.v1": roundTrip(CustomerErased.self),
    "order.changed.v1": roundTrip(Order.self),
    "proof.submitted.v1": roundTrip(Proof.self),
    "proof.decided.v1": roundTrip(ProofOutcome.self),
    "appstore.fact.v1": roundTrip(AppStoreFact.self),
    "lineage.changed.v1": roundTrip(LineageState.self),
    "entitlement.updated.v1": roundTrip(EntitlementChanged.self),
    "balance.changed.v1": roundTrip(BalanceChanged.self),
    "grant.removed.v1": roundTrip(GrantChanged.self),
    "entitlements.customer-merged.v1": roundTrip(EntitlementsMerged.self),
    "entitlements.customer-erased.v1": roundTrip(EntitlementsErased.self),
    "consumption.reported.v1": roundTrip(ConsumptionReported.self),
    "customer.state.v1": roundTrip(CustomerState.self),
  ]

  private static func roundTrip<Event: Codable & SendableMetatype>(_ type: Event.Type) -> RoundTrip
  {
    { bytes in try EventJSON.encode(try EventJSON.decode(Event.self, from: bytes)) }
  }

  private static func golden(_ name: String) throws -> String {
    let path = TestData.packageRoot + "/Tests/Fixtures/events/\(name).json"
    let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    return text.replacing("\n", with: "")
  }

  private static func rewritten(_ name: String, _ text: String) throws -> String {
    let roundTrip = try #require(roundTrips[name])
    return String(decoding: try roundTrip(Array(text.utf8)), as: UTF8.self)
  }

  @Test(arguments: roundTrips.keys.sorted())
  func `an event of a published version is read whole and written as it was`(name: String) throws {
    let golden = try Self.golden(name)
    #expect(try Self.rewritten(name, golden) == golden)
  }

  @Test(arguments: roundTrips.keys.sorted())
  func `a reader ignores fields that it does not know`(name: String) throws {
    let golden = try Self.golden(name)
    let extended = "{\"aFieldOfTomorrow\":{\"a\":[1]}," + golden.dropFirst()
    #expect(try Self.rewritten(name, extended) == golden)
  }

  @Test func `every golden file belongs to a type`() throws {
    let folder = TestData.packageRoot + "/Tests/Fixtures/events"
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(Set(files.map { $0.replacing(".json", with: "") }) == Set(Self.roundTrips.keys))
  }

  @Test func `an unknown word of an open vocabulary survives`() throws {
    let text = try Self.golden("order.changed.v1")
      .replacing("\"completed\"", with: "\"of-tomorrow\"")
    #expect(try Self.rewritten("order.changed.v1", text) == text)
  }

  @Test func `a wrong event is explained by its field`() throws {
    func explained(_ text: String) -> String {
      let error = #expect(throws: DecodingError.self) {
        try EventJSON.decode(Order.self, from: Array(text.utf8))
      }
      return error.map(EventJSON.explain) ?? ""
    }
    let golden = try Self.golden("order.changed.v1")
    let wrong = golden.replacing("\"revision\":3", with: "\"revision\":\"3\"")
    #expect(explained(wrong).contains("revision"))
    #expect(explained("{}").contains("is missing"))
    #expect(explained("not json").contains("not valid"))
  }
}
