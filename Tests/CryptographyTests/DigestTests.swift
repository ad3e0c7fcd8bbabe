import Cryptography
import Testing

@Suite("Digests and UUIDs")
struct DigestTests {
  @Test func `SHA-256 and SHA-1 give the published values of FIPS 180`() {
    #expect(
      SHA256.hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      SHA256.hex([]) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(
      SHA256.hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    #expect(SHA1.hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(SHA1.hex([]) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    #expect(SHA256.hash("abc".utf8.lazy.map { $0 }) == SHA256.hash("abc"))
  }

  @Test func `version 5 gives the UUID of the example in RFC 9562`() {
    let dns = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
    #expect(
      UUIDs.version5(namespace: dns, name: "www.example.com")
        == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
    #expect(
      UUIDs.version5(namespace: dns.uppercased(), name: "www.example.com")
        == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
    #expect(
      UUIDs.version5(namespace: "not a UUID", name: "a")
        != UUIDs.version5(namespace: "another", name: "a"))
  }

  @Test func `version 4 is lower case, marked as random, and never the same`() {
    let made = (0..<500).map { _ in UUIDs.version4() }
    #expect(Set(made).count == made.count)
    for text in made {
      let characters = Array(text)
      #expect(characters.count == 36 && text == text.lowercased())
      #expect(characters[14] == "4" && "89ab".contains(characters[19]))
      #expect(UUIDs.normalized(text) == text)
    }
  }

  @Test func `only canonical texts are UUIDs, in either case`() {
    #expect(
      UUIDs.normalized("7E3FB20B-4CDB-47CC-936D-99D65F608138")
        == "7e3fb20b-4cdb-47cc-936d-99d65f608138")
    for text in [
      "", "7e3fb20b4cdb47cc936d99d65f608138", "7e3fb20b-4cdb-47cc-936d-99d65f60813",
      "7e3fb20b-4cdb-47cc-936d-99d65f60813g", "{7e3fb20b-4cdb-47cc-936d-99d65f608138}",
      "7e3fb20b-4cdb-47cc-936d-99d65f608138 ", "7e3fb20-b4cdb-47cc-936d-99d65f608138",
    ] {
      #expect(UUIDs.normalized(text) == nil, "\(text)")
    }
  }

  @Test func `secrets are equal only when every byte is`() {
    #expect(constantTimeEquals([1, 2, 3], [1, 2, 3]))
    #expect(!constantTimeEquals([1, 2, 3], [1, 2, 4]))
    #expect(!constantTimeEquals([1, 2, 3], [0, 2, 3]))
    #expect(!constantTimeEquals([1, 2, 3], [1, 2]))
    #expect(constantTimeEquals([], []))
    #expect(randomBytes(32).count == 32 && randomBytes(32) != randomBytes(32))
    #expect(randomBytes(0).isEmpty)
  }
}
