import AppStore
import Cryptography
import Testing

@Suite("API key")
struct APIKeyTests {
  private func fault(_ body: () throws(APIKeyFault) -> APIKey) -> APIKeyFault? {
    do {
      _ = try body()
      return nil
    } catch {
      return error
    }
  }

  @Test func `a key file is read however its way through the environment damaged it`() throws {
    let key = try PrivateKey(generate: .p256)
    let pem = try key.pem()
    let bare = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
    let lines = pem.split(separator: "\n").map { String($0) }
    for damaged in [
      pem, lines.joined(separator: "\\n"), lines.joined(separator: "\r\n"),
      lines.joined(separator: "\n"), lines.joined(separator: " "), lines.joined(),
      Base64.encode(Array(pem.utf8)), Base64.encode(Array(pem.utf8)) + "\n", bare, pem + "%",
      "\"" + lines.joined(separator: "\\n") + "\"", "\u{FEFF}" + pem, "\n\n  " + pem,
    ] {
      let read = try APIKey(issuerId: "issuer", keyId: "key", pem: damaged)
      #expect(read.publicKey.spki == key.publicKey.spki)
    }
  }

  @Test func `what is no key is refused in words that hold nothing of it`() throws {
    let secret = "MIGTAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHkwdwIBAQQg"
    for text in [
      "", "no key", secret, "-----BEGIN PRIVATE KEY-----\n\(secret)\n-----END PRIVATE KEY-----",
    ] {
      let fault = try #require(
        fault { () throws(APIKeyFault) in
          try APIKey(issuerId: "issuer", keyId: "KEY1", pem: text)
        })
      #expect(fault.description.contains("KEY1"))
      #expect(!fault.description.contains("MIGT"))
    }
  }

  @Test func `a key on another curve is named as such`() throws {
    let key = try PrivateKey(generate: .p384)
    let fault = fault { () throws(APIKeyFault) in
      try APIKey(issuerId: "issuer", keyId: "key", privateKey: key)
    }
    #expect(fault?.detail.contains("P-256") == true)
  }

  @Test func `ids lose the space around them and must not be empty`() throws {
    let key = try PrivateKey(generate: .p256)
    let read = try APIKey(issuerId: " issuer\n", keyId: "\tkey ", privateKey: key)
    #expect(read.issuerId == "issuer" && read.keyId == "key")
    for (issuer, id) in [("", "key"), ("issuer", " ")] {
      let fault = fault { () throws(APIKeyFault) in
        try APIKey(issuerId: issuer, keyId: id, privateKey: key)
      }
      #expect(fault != nil)
    }
  }

  @Test func `ids unlike those of App Store Connect are pointed out, not refused`() throws {
    let key = try PrivateKey(generate: .p256)
    let odd = try APIKey(issuerId: "issuer", keyId: "key", privateKey: key)
    let even = try APIKey(
      issuerId: "99b16628-15e4-4668-972b-eeff55eeff55", keyId: "2X9R4HXF34", privateKey: key)
    #expect(odd.oddities.count == 2)
    #expect(even.oddities.isEmpty)
  }

  @Test func `a key never shows its private half`() throws {
    let key = try PrivateKey(generate: .p256)
    let pem = try key.pem()
    let apiKey = try APIKey(issuerId: "issuer", keyId: "key", pem: pem)
    var shown = "\(apiKey) " + String(reflecting: apiKey)
    dump(apiKey, to: &shown)
    for line in pem.split(separator: "\n") where !line.hasPrefix("-----") {
      #expect(!shown.contains(line))
    }
    #expect(shown.contains("issuer") && shown.contains("key"))
  }
}
