import AppStore
import Cryptography
import Testing

@Suite("Bearer token")
struct APITokenTests {
  private func key() throws -> APIKey {
    try APIKey(issuerId: "issuer", keyId: "KEYKEYKEY1", privateKey: PrivateKey(generate: .p256))
  }

  private func tokens(_ clock: APIClock, limit: Int = 256) -> BearerTokens {
    BearerTokens(limit: limit) { clock.now() }
  }

  @Test func `a token says who asks, for which app, and for how long`() throws {
    let key = try key()
    let token = try tokens(APIClock()).token(for: "com.example", key: key)
    let (header, claims) = try verifiedParts(token.reveal, by: key.publicKey)
    #expect(
      header
        == .object(["alg": .string("ES256"), "kid": .string("KEYKEYKEY1"), "typ": .string("JWT")]))
    #expect(
      claims
        == .object([
          "iss": .string("issuer"), "aud": .string("appstoreconnect-v1"),
          "bid": .string("com.example"), "iat": .number(Double(token.issuedAt)),
          "exp": .number(Double(token.expiresAt)),
        ]))
  }

  @Test func `a token lives twenty minutes at most and began a minute ago`() throws {
    let token = try tokens(APIClock()).token(for: "com.example", key: key())
    #expect(token.expiresAt - token.issuedAt <= 20 * 60)
    #expect(token.issuedAt == APIClock.start / 1000 - 60)
  }

  @Test func `a token is used again until five minutes before its end`() throws {
    let (clock, key) = (APIClock(), try key())
    let tokens = tokens(clock)
    let first = try tokens.token(for: "com.example", key: key)
    clock.advance(by: .seconds(13 * 60))
    #expect(try tokens.token(for: "com.example", key: key) == first)
    clock.advance(by: .seconds(2 * 60))
    let second = try tokens.token(for: "com.example", key: key)
    #expect(second != first)
    #expect(second.expiresAt * 1000 > clock.now() + 5 * 60_000)
  }

  @Test func `a clock that was set back brings a new token`() throws {
    let (clock, key) = (APIClock(), try key())
    let tokens = tokens(clock)
    let first = try tokens.token(for: "com.example", key: key)
    clock.advance(by: .seconds(-120))
    let second = try tokens.token(for: "com.example", key: key)
    #expect(second.issuedAt * 1000 < clock.now() && second.issuedAt < first.issuedAt)
  }

  @Test func `each app and each key has its own token`() throws {
    let (one, other) = (try key(), try key())
    let tokens = tokens(APIClock())
    let first = try tokens.token(for: "com.example", key: one)
    #expect(try tokens.token(for: "com.example.b", key: one) != first)
    // The same ids with another private half, as after a replaced file.
    let replaced = try tokens.token(for: "com.example", key: other)
    _ = try verifiedParts(replaced.reveal, by: other.publicKey)
    #expect(try tokens.token(for: "com.example", key: one) == first)
  }

  @Test func `a forgotten token is signed anew`() throws {
    let (key, tokens) = (try key(), tokens(APIClock()))
    let first = try tokens.token(for: "com.example", key: key)
    tokens.forget(for: "com.example", key: key)
    #expect(try tokens.token(for: "com.example", key: key) != first)
  }

  @Test func `tokens beyond the bound push out those that end first`() throws {
    let (clock, key) = (APIClock(), try key())
    let tokens = tokens(clock, limit: 2)
    let first = try tokens.token(for: "a", key: key)
    clock.advance(by: .seconds(1))
    let second = try tokens.token(for: "b", key: key)
    clock.advance(by: .seconds(1))
    _ = try tokens.token(for: "c", key: key)
    #expect(try tokens.token(for: "b", key: key) == second)
    #expect(try tokens.token(for: "a", key: key) != first)
  }

  @Test func `a token never shows itself`() throws {
    let token = try tokens(APIClock()).token(for: "com.example", key: key())
    var shown = "\(token) " + String(reflecting: token)
    dump(token, to: &shown)
    for part in token.reveal.split(separator: ".") { #expect(!shown.contains(part)) }
  }
}
