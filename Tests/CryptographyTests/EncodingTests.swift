import Cryptography
import Testing

@Suite("Text encodings")
struct EncodingTests {
  @Test func `base64url returns what it was given, at every length`() {
    for length in 0...300 {
      let bytes = randomBytes(length)
      let text = Base64URL.encode(bytes)
      #expect(!text.contains { "+/=".contains($0) })
      #expect(Base64URL.decode(text) == bytes)
      let standard = Base64.encode(bytes)
      #expect(standard.utf8.count.isMultiple(of: 4))
      #expect(Base64.decode(standard) == bytes)
    }
  }

  @Test func `the examples of RFC 4648 come out as published`() {
    let examples = [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
      ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ]
    for (plain, encoded) in examples {
      #expect(Base64.encode(Array(plain.utf8)) == encoded)
      #expect(Base64URL.encode(Array(plain.utf8)) == encoded.filter { $0 != "=" })
    }
    #expect(Base64URL.encode([0xFB, 0xEF, 0xFF]) == "--__")
    #expect(Base64.encode([0xFB, 0xEF, 0xFF]) == "++//")
  }

  @Test(arguments: ["Zg==", "Zm8=", "++//", "Z", "Zm9vY", "Zh", "Zm9", "Zm 9", "Zm9v\n", "Zmé"])
  func `base64url refuses padding, other alphabets, wrong lengths and loose bits`(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }

  @Test(arguments: ["Zg", "Zg=", "Zg===", "--__", "Zh==", "Zm9=", "=", "====", "Zm9v\n", "Z=g="])
  func `base64 refuses missing padding, other alphabets and loose bits`(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test func `every single character outside the alphabet is refused`() {
    let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    for byte in UInt8.min...UInt8.max {
      for place in 0..<4 {
        var text = Array("AAAA".utf8)
        text[place] = byte
        #expect((Base64URL.decode(text) != nil) == allowed.contains(byte))
      }
    }
  }

  @Test func `hexadecimal goes both ways`() {
    #expect(Hex.encode([0x00, 0xAB, 0xFF]) == "00abff")
    #expect(Hex.decode("00aBFf") == [0x00, 0xAB, 0xFF])
    #expect(Hex.decode("0") == nil && Hex.decode("0g") == nil && Hex.decode("+1") == nil)
  }
}
