import Testing

@testable import Catalog

@Suite("Apps in purser.json")
struct AppsTests {
  private static func read(_ app: String) throws(CatalogError) -> App? {
    let text = """
      {"roots": ["r.cer"], "catalog": "c.json", "apps": [{"bundleId": "com.example.app",
       "appAppleId": 1, \(app)}]}
      """
    return try Apps(json: Array(text.utf8), folder: "etc/").all.first
  }

  @Test func `a key to Apple's API is a file or a variable`() throws {
    let file = try Self.read(
      #""environments": {"Production": {}}, "api": {"keyId": "K", "issuerId": "I", "keyFile": "k.p8"}"#
    )
    #expect(file?.api == APIAccess(keyId: "K", issuerId: "I", source: .file("etc/k.p8")))
    let variable = try Self.read(
      #""environments": {"Production": {}}, "api": {"keyId": "K", "issuerId": "I", "keyVariable": "V"}"#
    )
    #expect(variable?.api == APIAccess(keyId: "K", issuerId: "I", source: .variable("V")))
  }

  @Test(arguments: [
    #"{"keyId": "K", "issuerId": "I"}"#, #"{"keyId": "K", "keyFile": "k"}"#,
    #"{"issuerId": "I", "keyFile": "k"}"#,
    #"{"keyId": "K", "issuerId": "I", "keyFile": "k", "keyVariable": "V"}"#,
    #"{"keyId": "K", "issuerId": "I", "keyFile": "k", "secret": "s"}"#,
  ])
  func `a key that cannot be found is a fault`(api: String) {
    #expect(throws: CatalogError.self) {
      try Self.read(#""environments": {"Sandbox": {}}, "api": \#(api)"#)
    }
  }

  @Test func `asking verifyReceipt needs the shared secret`() throws {
    #expect(throws: CatalogError.self) {
      try Self.read(#""environments": {"Sandbox": {}}, "policies": {"receipts": "verifyReceipt"}"#)
    }
    let app = try Self.read(
      #""environments": {"Sandbox": {}}, "policies": {"receipts": "both"}, "sharedSecretFile": "s""#
    )
    #expect(app?.sharedSecretFile == "etc/s")
    #expect(app?.environments["Sandbox"]?.receipts == .both)
  }

  @Test func `checks are off and receipts local unless configured`() {
    let policies = Policies(environment: "Production")
    #expect(policies.revocationCheck == .off && policies.receipts == .local)
    #expect(!policies.receipts.asksApple)
  }
}
