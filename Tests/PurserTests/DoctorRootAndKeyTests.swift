import AppStore
import Catalog
import Cryptography
import FoundationEssentials
import TestSupport
import Testing

@testable import purser

/// What the doctor says of roots and keys that are not right.
@Suite("Doctor: roots and keys") struct DoctorRootAndKeyTests {
  private static let now: Int64 = 1_790_000_000_000
  private let folder: String

  init() throws {
    folder = TestFolder.path("doctor")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  private func apps(
    roots: [String], production: Bool = true, api: String = "", more: String = ""
  ) throws -> Apps {
    let list = roots.map { "\"\($0)\"" }.joined(separator: ",")
    let environments = production ? #""Production": {}, "Sandbox": {}"# : #""Sandbox": {}"#
    return try Apps(
      json: Array(
        """
        {"roots": [\(list)], "catalog": "catalog.json", "apps": [
          {"bundleId": "com.example.app", "appAppleId": 77, "environments": {\(environments)}\(api)\(more)}]}
        """.utf8))
  }

  private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let path = "\(folder)/\(name)"
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  private func apple(_ name: String) -> String {
    "\(TestData.root)/apple/certs/apple-root/\(name).cer"
  }

  private func roots(_ files: [String], production: Bool = true, now: Int64 = now) throws
    -> [Finding]
  {
    RootCheck(apps: try apps(roots: files, production: production), now: now).examine().1
  }

  private func expect(
    _ findings: [Finding], _ level: Finding.Level, _ words: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let found = findings.first { $0.level == level && $0.what.contains(words) }
    #expect(found != nil, "\(findings)", sourceLocation: sourceLocation)
    #expect(found?.remedy?.isEmpty == false || level == .good, sourceLocation: sourceLocation)
  }

  @Test func `Apple's two roots are right`() throws {
    let findings = try roots([apple("AppleRootCA-G3"), apple("AppleIncRootCertificate")])
    #expect(findings.allSatisfy { $0.level == .good }, "\(findings)")
  }

  @Test func `a root that is missing, unreadable, no certificate or not Apple's is named`() throws {
    expect(try roots(["\(folder)/none.der"]), .fault, "cannot be read")
    expect(try roots([try file("text.der", Array("no root".utf8))]), .fault, "is no certificate")
    let findings = try roots([apple("AppleIncRootCertificate")])
    expect(findings, .fault, "is missing: nothing that Apple signs")
    let signed = try roots([apple("AppleRootCA-G3")])
    expect(signed, .warning, "receipts cannot be verified")
    let own = try file("own.der", try AppStoreChains.chain().root.der)
    expect(try roots([own, apple("AppleRootCA-G3")]), .fault, "is not Apple's, and an app serves")
    expect(try roots([own], production: false), .warning, "is not Apple's")
  }

  @Test func `a root out of its time, or nearly so, is told`() throws {
    let root = apple("AppleRootCA-G3")
    let end = try Certificate(
      bytes: try TestData.bytes("apple/certs/apple-root/AppleRootCA-G3.cer"), name: "G3"
    ).notAfter
    expect(try roots([root], now: end + 1), .fault, "not in force at this machine's time")
    expect(try roots([root], now: end - 40 * 86_400_000), .warning, "ends in 40 days")
  }

  private func keys(_ text: String?, keyId: String = "2X9R4HXF34", issuer: String? = nil) throws
    -> [Finding]
  {
    let path = try text.map { try file("key-\(UUID().uuidString).p8", Array($0.utf8)) }
    let api = """
      , "api": {"keyId": "\(keyId)", "issuerId": "\(issuer ?? "57246542-96fe-1a63-e053-0824d011072a")",
                "keyFile": "\(path ?? "\(folder)/none.p8")"}
      """
    let (usable, findings) = KeyCheck(apps: try apps(roots: ["a.der"], api: api)) { _ in nil }
      .examine()
    let isFaulty = findings.contains { $0.level == .fault }
    #expect(usable.isEmpty == isFaulty)
    return findings
  }

  @Test func `a key that is missing, no key, of another kind or oddly named is told`() throws {
    let good = try PrivateKey(generate: .p256).pem()
    #expect(try keys(good).map(\.level) == [.good])
    expect(try keys(nil), .fault, "cannot be read")
    expect(try keys("no key"), .fault, "API key 2X9R4HXF34")
    let larger = try keys(try PrivateKey(generate: .p384).pem())
    expect(larger, .fault, "P-256")
    #expect(larger.first?.remedy?.contains("In-App Purchase key") == true)
    expect(try keys(good, keyId: "short"), .warning, "not ten capital letters")
    expect(try keys(good, issuer: "69a6de7f"), .warning, "is not a UUID")
    let without = KeyCheck(apps: try apps(roots: ["a.der"])) { _ in nil }.examine().1
    expect(without, .warning, "has none: no back-fill")
    // Nothing of the key itself is told.
    let secret = try #require(good.split(separator: "\n").dropFirst().first)
    let told = "\(try keys(good, keyId: "short"))"
    #expect(!told.contains(secret.prefix(20)))
  }
}
