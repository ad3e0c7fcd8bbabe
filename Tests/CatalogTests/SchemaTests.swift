import Testing

@testable import Catalog

/// The JSON Schema that is shipped, held against the reader.
@Suite("Schema of catalog.json")
struct SchemaTests {
  private static func schema() throws -> JSONNode {
    let path = "\(TestFiles.packageRoot)/docs/catalog.schema.json"
    return try JSONParser.parse(TestFiles.bytes(path), file: path)
  }

  private static func member(_ node: JSONNode?, _ keys: String...) -> JSONNode? {
    keys.reduce(node) { node, key in
      guard case .object(let members)? = node?.value else { return nil }
      return members.first { $0.key == key }?.node
    }
  }

  private static func keys(_ node: JSONNode?) -> Set<String> {
    guard case .object(let members)? = node?.value else { return [] }
    return Set(members.map(\.key))
  }

  @Test(
    arguments: [
      (["properties"], CatalogFile.keys), (["$defs", "product", "properties"], CatalogEntry.keys),
      (["$defs", "subscription", "properties"], CatalogEntry.subscriptionKeys),
      (["$defs", "right", "properties"], Right.keys),
      (["$defs", "credit", "properties"], Credit.keys),
      (["$defs", "offers", "properties"], CatalogOffers.kinds),
      (["$defs", "offer", "properties"], CatalogOffers.keys),
      (["$defs", "offering", "properties"], Offering.keys),
      (["$defs", "package", "properties"], Offering.packageKeys),
      (["$defs", "localization", "properties"], ObjectReader.localizationKeys),
      (["$defs", "storefrontPrice", "properties"], ["displayPrice", "currency"]),
      (["$defs", "appVersions", "properties"], ["from", "to"]),
    ] as [([String], [String])])
  func `it knows the keys that the reader knows, and no other`(path: [String], keys: [String])
    throws
  {
    let schema = try Self.schema()
    let node = path.reduce(Optional(schema)) { Self.member($0, $1) }
    #expect(Self.keys(node) == Set(keys), "\(path)")
    let parent = path.dropLast().reduce(Optional(schema)) { Self.member($0, $1) }
    #expect(Self.member(parent, "additionalProperties")?.value == .bool(false), "\(path)")
  }

  @Test func `it names the same words for kinds and payment modes`() throws {
    let schema = try Self.schema()
    let kinds = Self.member(schema, "$defs", "product", "properties", "kind", "enum")
    let modes = Self.member(schema, "$defs", "offer", "properties", "paymentMode", "enum")
    for (node, words) in [
      (kinds, ProductKind.allCases.map(\.rawValue)),
      (modes, Offer.PaymentMode.allCases.map(\.rawValue)),
    ] {
      guard case .array(let elements)? = node?.value else {
        Issue.record("no enum")
        continue
      }
      let listed = elements.compactMap {
        if case .string(let word) = $0.value { word } else { nil }
      }
      #expect(Set(listed) == Set(words))
    }
  }
}
