import Cryptography
import Testing

@Suite("Keys")
struct KeyTests {
  static let message = Array("order".utf8)

  @Test func `a signature is 64 bytes and stands only for its key and message`() throws {
    let key = try PrivateKey(generate: .p256)
    let other = try PrivateKey(generate: .p256)
    // Enough rounds to meet integers with leading zeros, which change the DER form's length.
    for round in 0..<300 {
      let message = Self.message + [UInt8(round % 256), UInt8(round / 256)]
      let signature = try key.signES256(message)
      #expect(signature.count == 64)
      #expect(key.publicKey.verifyES256(signature: signature, over: message))
      #expect(!key.publicKey.verifyES256(signature: signature, over: Self.message))
      #expect(!other.publicKey.verifyES256(signature: signature, over: message))
    }
  }

  @Test func `signatures of a wrong form are refused, never a crash`() throws {
    let key = try PrivateKey(generate: .p256)
    let der = try key.signDER(Self.message)
    #expect(key.publicKey.verifyDER(signature: der, over: Self.message))
    for signature in [
      [], der, [UInt8](repeating: 0, count: 64), [UInt8](repeating: 0xFF, count: 64),
      [UInt8](repeating: 1, count: 63), [UInt8](repeating: 1, count: 65),
    ] {
      #expect(!key.publicKey.verifyES256(signature: signature, over: Self.message))
    }
  }

  @Test func `ES256 is refused for another curve`() throws {
    let key = try PrivateKey(generate: .p384)
    let error = #expect(throws: CryptographyError.self) { try key.signES256(Self.message) }
    #expect(error?.kind == .wrongKeyType)
  }

  @Test func `a public key survives its SubjectPublicKeyInfo`() throws {
    let key = try PrivateKey(generate: .p256)
    let read = try PublicKey(spki: key.publicKey.spki)
    #expect(read.curve == .p256 && read.spki == key.publicKey.spki)
    #expect(read.verifyES256(signature: try key.signES256(Self.message), over: Self.message))
    #expect(throws: CryptographyError.self) { try PublicKey(spki: [1, 2, 3]) }
  }

  @Test func `a key file is read in every form that environments make of it`() throws {
    let key = try PrivateKey(generate: .p256)
    let pem = try key.pem()
    let lines = pem.split(separator: "\n").map(String.init)
    let forms: [String: String] = [
      "as written": pem,
      "with escaped newlines": lines.joined(separator: "\\n") + "\\n",
      "with escaped carriage returns": lines.joined(separator: "\\r\\n"),
      "with CRLF": lines.joined(separator: "\r\n") + "\r\n",
      "without a last newline": lines.joined(separator: "\n"),
      "on one line": lines.joined(),
      "on one line with spaces": lines.joined(separator: " "),
      "in base64 once more": Base64.encode(Array(pem.utf8)),
      "in base64 with line breaks": Base64.encode(Array(pem.utf8)) + "\n",
      "with the mark of a shell": lines.joined(separator: "\n") + "%",
      "in quotes": "\"" + lines.joined(separator: "\\n") + "\"",
      "without armour": lines.dropFirst().dropLast().joined(),
      "with text before": "key of the shop\n" + pem,
    ]
    for (form, text) in forms {
      let read = try PrivateKey(pem: text)
      #expect(read.publicKey.spki == key.publicKey.spki, "\(form)")
    }
  }

  @Test func `what is no key is refused without showing it`() throws {
    let secret = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49"
    for text in [
      "", "hello", "-----BEGIN PRIVATE KEY-----\n\(secret)\n-----END PRIVATE KEY-----\n",
      "-----BEGIN PRIVATE KEY-----\n\(secret)", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END",
    ] {
      let error = #expect(throws: CryptographyError.self) { try PrivateKey(pem: text) }
      #expect(error?.kind == .invalidKey && error?.description.contains(secret) == false)
    }
    let key = try PrivateKey(generate: .p256)
    #expect("\(key)" == "PrivateKey(P-256)")
    var dumped = ""
    dump(key, to: &dumped)
    #expect(!dumped.contains("handle") && !dumped.contains("spki"))
  }

  @Test func `one key serves many tasks at once`() async throws {
    let key = try PrivateKey(generate: .p256)
    let stood = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<64 {
        group.addTask {
          let message = [UInt8(index)]
          guard let signature = try? key.signES256(message) else { return false }
          return key.publicKey.verifyES256(signature: signature, over: message)
        }
      }
      return await group.allSatisfy { $0 }
    }
    #expect(stood)
  }
}
