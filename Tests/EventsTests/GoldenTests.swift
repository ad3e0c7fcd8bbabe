import Events
import FoundationEssentials
import TestSupport
import Testing

/// Golden files freeze every published version: a reader of today must read what was written then,
/// every field of it, and write it again as it was.
@Suite("Golden events") struct GoldenTests {
  private typealias RoundTrip = @Sendable ([UInt8]) throws -> [UInt8]

  /// A type read and written again, by hand as the services do and by `Codable`, which defines it.
  private struct Form: Sendable {
    let byHand: RoundTrip
    let byCodable: RoundTrip
    let fields: @Sendable ([UInt8]) throws -> Fields
  }

  /// Fields by type, such as `Order.state`.
  private struct Fields {
    var present: Set<String> = []
    var absent: Set<String> = []

    /// Goes through a value and the values in it; nil and an empty list are absent.
    mutating func note(_ value: Any, as name: String) {
      let mirror = Mirror(reflecting: value)
      let isList = mirror.displayStyle == .collection
      if mirror.displayStyle == .optional || isList {
        guard !mirror.children.isEmpty else {
          absent.insert(name)
          return
        }
        for child in mirror.children { note(child.value, as: name) }
        return
      }
      present.insert(name)
      for child in mirror.children {
        note(child.value, as: "\(type(of: value)).\(child.label ?? "")")
      }
    }
  }

  /// The type of each golden file, which is named as its `ce_type` without `purser.`.
  private static let forms: [String: Form] = [
    "customer.token-issued.v1": form(TokenIssued.self),
    "customer.merged.v1": form(CustomerMerged.self),
    "customer.lineage-transferred.v1": form(LineageTransferred.self),
    "customer.erased.v1": form(CustomerErased.self),
    "order.changed.v1": form(Order.self),
    "proof.submitted.v1": form(Proof.self),
    "proof.decided.v1": form(ProofOutcome.self),
    "appstore.fact.v1": form(AppStoreFact.self),
    "lineage.changed.v1": form(LineageState.self),
    "entitlement.activated.v1": form(EntitlementChanged.self),
    "entitlement.updated.v1": form(EntitlementChanged.self),
    "entitlement.deactivated.v1": form(EntitlementChanged.self),
    "balance.changed.v1": form(BalanceChanged.self),
    "grant.created.v1": form(GrantChanged.self),
    "grant.removed.v1": form(GrantChanged.self),
    "entitlements.customer-merged.v1": form(EntitlementsMerged.self),
    "entitlements.customer-erased.v1": form(EntitlementsErased.self),
    "consumption.reported.v1": form(ConsumptionReported.self),
    "customer.state.v1": form(CustomerState.self),
  ]

  private static func form<Event: EventValue>(_ type: Event.Type) -> Form {
    Form(
      byHand: { bytes in try EventJSON.encode(try EventJSON.decode(Event.self, from: bytes)) },
      byCodable: { bytes in
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return [UInt8](
          try encoder.encode(try JSONDecoder().decode(Event.self, from: Data(bytes))))
      },
      fields: { bytes in
        var fields = Fields()
        fields.note(
          try JSONDecoder().decode(Event.self, from: Data(bytes)), as: "\(Event.self)")
        return fields
      })
  }

  private static func golden(_ name: String) throws -> String {
    let path = TestData.packageRoot + "/Tests/Fixtures/events/\(name).json"
    let text = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    return text.replacing("\n", with: "")
  }

  private static func rewritten(_ name: String, _ text: String) throws -> String {
    let form = try #require(forms[name])
    return String(decoding: try form.byHand(Array(text.utf8)), as: UTF8.self)
  }

  @Test(arguments: forms.keys.sorted())
  func `an event of a published version is read whole and written as it was`(name: String) throws {
    let golden = try Self.golden(name)
    #expect(try Self.rewritten(name, golden) == golden)
  }

  @Test(arguments: forms.keys.sorted())
  func `what is written by hand is what its definition as Codable says`(name: String) throws {
    let form = try #require(Self.forms[name])
    let golden = Array(try Self.golden(name).utf8)
    #expect(try form.byHand(golden) == form.byCodable(golden))
  }

  @Test func `every field of every type stands in a golden file`() throws {
    var all = Fields()
    for (name, form) in Self.forms {
      let fields = try form.fields(Array(Self.golden(name).utf8))
      all.present.formUnion(fields.present)
      all.absent.formUnion(fields.absent)
    }
    #expect(all.present.count > 150)
    #expect(all.absent.subtracting(all.present).sorted() == [])
  }

  @Test(arguments: forms.keys.sorted())
  func `a reader ignores fields that it does not know`(name: String) throws {
    let golden = try Self.golden(name)
    let extended = "{\"aFieldOfTomorrow\":{\"a\":[1]}," + golden.dropFirst()
    #expect(try Self.rewritten(name, extended) == golden)
  }

  @Test func `every golden file belongs to a type`() throws {
    let folder = TestData.packageRoot + "/Tests/Fixtures/events"
    let files = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(Set(files.map { $0.replacing(".json", with: "") }) == Set(Self.forms.keys))
  }

  @Test func `an unknown word of an open vocabulary survives`() throws {
    let text = try Self.golden("order.changed.v1")
      .replacing("\"completed\"", with: "\"of-tomorrow\"")
    #expect(try Self.rewritten("order.changed.v1", text) == text)
  }

  @Test func `a wrong event is explained by its field`() throws {
    func explained(_ text: String) -> String {
      let error = #expect(throws: EventFault.self) {
        try EventJSON.decode(Order.self, from: Array(text.utf8))
      }
      return error?.detail ?? ""
    }
    let golden = try Self.golden("order.changed.v1")
    let wrong = golden.replacing("\"revision\":3", with: "\"revision\":\"3\"")
    #expect(explained(wrong).hasPrefix("revision is not"))
    #expect(explained("{}").contains("is missing"))
    #expect(explained("not json").contains("not JSON at byte 0"))
  }
}
