import Cryptography
import HTTPServer
import ServiceRuntime
import Synchronization
import Testing

@testable import Access

@Suite("Tokens of the team's issuer")
struct TokenTests {
  private func problem(_ verifier: TokenVerifier, _ token: String) -> Problem? {
    do throws(Problem) {
      _ = try verifier.identify(token)
      return nil
    } catch {
      return error
    }
  }

  @Test func `a token speaks for the customer in its sub, and may not spend`() throws {
    let issuer = try SampleIssuer()
    let principal = try verifier(HandKeys(issuer.set)).identify(issuer.token())
    #expect(principal.customer == "ann" && principal.name == "token:ann")
    #expect(principal.scopes == [.orders, .entitlementsRead])
    let spender = try verifier(HandKeys(issuer.set), maySpend: true).identify(issuer.token())
    #expect(spender.scopes == [.orders, .entitlementsRead, .entitlementsWrite])
  }

  @Test(
    arguments: [
      ["iss": "\"https://other.example.com\""], ["iss": nil], ["aud": "\"another\""], ["aud": nil],
      ["aud": "[]"], ["sub": nil], ["sub": "\"\""], ["sub": "\"$appstore:x\""],
      ["sub": "\"a\\u0000b\""], ["sub": "17"], ["exp": nil], ["exp": "\"soon\""], ["exp": "1e300"],
      ["exp": "-1"], ["nbf": "\(SampleIssuer.seconds + 31)"], ["nbf": "\"x\""],
    ] as [[String: String?]])
  func `a claim that is missing or wrong is refused`(changes: [String: String?]) throws {
    let issuer = try SampleIssuer()
    let found = problem(try verifier(HandKeys(issuer.set)), try issuer.token(changes))
    #expect(found?.status == 401 && found?.type == "bad-token", "\(changes)")
    #expect(found?.headers.contains { $0.0 == "WWW-Authenticate" } == true)
  }

  @Test(
    arguments: [
      ["aud": "[\"x\",\"purser\"]"], ["nbf": "\(SampleIssuer.seconds + 29)"],
      ["exp": "\(SampleIssuer.seconds - 29)"], ["exp": "\(SampleIssuer.seconds).5"],
      ["name": "\"Ann\""],
    ] as [[String: String?]])
  func `a list of audiences, clocks that differ and other claims are taken`(
    changes: [String: String?]
  ) throws {
    let issuer = try SampleIssuer()
    #expect(problem(try verifier(HandKeys(issuer.set)), try issuer.token(changes)) == nil)
  }

  @Test(
    arguments: [
      "{\"alg\":\"none\"}", "{\"alg\":\"None\",\"kid\":\"k1\"}",
      "{\"alg\":\"HS256\",\"kid\":\"k1\"}",
      "{\"alg\":\"ES384\",\"kid\":\"k1\"}", "{\"alg\":\"RS256\",\"kid\":\"k1\"}",
      "{\"kid\":\"k1\"}", "[]",
      "{\"alg\":\"ES256\",\"kid\":\"k1\",\"crit\":[\"exp\"]}", "{\"alg\":\"ES256\",\"kid\":7}",
    ])
  func `an algorithm or header that is not asked for is refused`(header: String) throws {
    let issuer = try SampleIssuer()
    let found = problem(
      try verifier(HandKeys(issuer.set, mayRefresh: false)), try issuer.token(header: header))
    #expect(found?.status == 401 && found?.type == "bad-token")
  }

  @Test func `a token without signature, of another key, or changed in one bit is refused`() throws
  {
    let issuer = try SampleIssuer()
    let verifier = try verifier(HandKeys(issuer.set))
    let good = try issuer.token()
    let parts = good.split(separator: ".")
    for token in [
      "\(parts[0]).\(parts[1]).", "..", "a.b.c", "\(parts[0]).\(parts[1]).\(parts[2])=",
      try issuer.token(tampered: true), try SampleIssuer().token(),
      String(repeating: "a", count: 9000) + ".b.c",
    ] {
      #expect(problem(verifier, token)?.type == "bad-token", "\(token.prefix(40))")
    }
    #expect(problem(verifier, good) == nil)
  }

  @Test func `the secret of a token is in no problem`() throws {
    let issuer = try SampleIssuer()
    let token = try issuer.token(["aud": "\"another\""])
    let found = problem(try verifier(HandKeys(issuer.set)), token)
    #expect(found?.description.contains(token.suffix(20)) == false)
  }

  @Test func `a token that is known is not verified again, until it expires`() throws {
    let issuer = try SampleIssuer()
    let metrics = Metrics()
    let clock = ManualClock(SampleIssuer.now)
    let verifier = verifier(HandKeys(try issuer.set), metrics: metrics, clock: clock)
    let token = try issuer.token()
    for _ in 0..<5 { _ = try verifier.identify(token) }
    #expect(metrics.counter("access_tokens_verified_total", "").value == 1)
    clock.advance(by: 629_000)
    #expect(problem(verifier, token) == nil)
    clock.advance(by: 1_000)
    #expect(problem(verifier, token)?.type == "expired-token")
    #expect(
      problem(verifier, try issuer.token(["exp": "\(SampleIssuer.seconds)"]))?.type
        == "expired-token")
  }

  @Test func `a key that the issuer withdrew lets nobody in, not even a known token`() throws {
    let (old, new) = (try SampleIssuer(keyId: "old"), try SampleIssuer(keyId: "new"))
    let keys = HandKeys(try old.set, mayRefresh: false)
    let verifier = verifier(keys)
    let token = try old.token()
    _ = try verifier.identify(token)
    keys.give(try new.set)
    #expect(problem(verifier, token)?.type == "bad-token")
    #expect(problem(verifier, try new.token()) == nil)
  }

  @Test func `an unknown key is asked for, and the caller comes again`() throws {
    let (old, new) = (try SampleIssuer(keyId: "old"), try SampleIssuer(keyId: "new"))
    let keys = HandKeys(try old.set)
    let verifier = verifier(keys)
    let found = problem(verifier, try new.token())
    #expect(found?.status == 503 && found?.type == "token-keys-missing")
    #expect(found?.headers.contains { $0.0 == "Retry-After" } == true)
    #expect(keys.refreshes.load(ordering: .relaxed) == 1)
    keys.give(try new.set)
    #expect(problem(verifier, try new.token()) == nil)
  }

  @Test func `a token without key id is taken where only one key fits`() throws {
    let (one, other) = (try SampleIssuer(keyId: "1"), try SampleIssuer(keyId: "2"))
    let token = try one.token(header: "{\"alg\":\"ES256\"}")
    #expect(problem(try verifier(HandKeys(one.set)), token) == nil)
    let both = try WebKeySet(json: Array("{\"keys\":[\(one.member),\(other.member)]}".utf8))
    #expect(problem(verifier(HandKeys(both)), token)?.type == "bad-token")
  }

  @Test func `a set of keys leaves out what is not for signatures, and refuses what is none`()
    throws
  {
    let issuer = try SampleIssuer()
    let set = try WebKeySet(
      json: Array(
        """
        {"keys":[\(issuer.member),{"kty":"oct","k":"AAAA"},{"kty":"OKP","crv":"Ed25519","x":"AA"},
         \(issuer.member.replacing("\"sig\"", with: "\"enc\"")),{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}
        """.utf8))
    #expect(set.count == 1)
    for text in [
      "", "[]", "{}", "{\"keys\":[]}", "{\"keys\":[{\"kty\":\"oct\"}]}", "{\"keys\":[{}]}",
    ] {
      #expect(throws: WebKeySetError.self) { try WebKeySet(json: Array(text.utf8)) }
    }
  }
}
