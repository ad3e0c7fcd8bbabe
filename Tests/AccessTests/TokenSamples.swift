import Cryptography
import FoundationEssentials
import HTTPServer
import ServiceRuntime
import Synchronization

@testable import Access

/// An issuer of tokens as an app team runs it.
struct SampleIssuer {
  static let now: Int64 = 1_800_000_000_000
  static let seconds = now / 1000

  let key: PrivateKey
  let keyId: String

  init(keyId: String = "k1") throws {
    key = try PrivateKey(generate: .p256)
    self.keyId = keyId
  }

  /// The public key as a member of a JWKS.
  var member: String {
    // The last 64 bytes of a SubjectPublicKeyInfo on P-256 are x and y.
    let point = Array(key.publicKey.spki.suffix(64))
    return """
      {"kty":"EC","crv":"P-256","kid":"\(keyId)","use":"sig","alg":"ES256",
       "x":"\(Base64URL.encode(Array(point.prefix(32))))","y":"\(Base64URL.encode(Array(point.suffix(32))))"}
      """
  }

  var set: WebKeySet {
    get throws { try WebKeySet(json: Array("{\"keys\":[\(member)]}".utf8)) }
  }

  static let goodClaims: [String: String] = [
    "iss": "\"https://id.example.com\"", "aud": "\"purser\"", "sub": "\"ann\"",
    "exp": "\(seconds + 600)",
  ]

  /// A token; the changes replace claims, nil leaves one out.
  func token(
    _ changes: [String: String?] = [:], header: String? = nil, tampered: Bool = false
  ) throws -> String {
    var claims = Self.goodClaims
    for (name, value) in changes { claims[name] = value }
    let body = claims.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
    let header = header ?? "{\"alg\":\"ES256\",\"kid\":\"\(keyId)\",\"typ\":\"JWT\"}"
    let message =
      "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array("{\(body)}".utf8)))"
    var signature = try key.signES256(Array(message.utf8))
    if tampered { signature[10] ^= 1 }
    return "\(message).\(Base64URL.encode(signature))"
  }
}

/// Keys that a test gives out by hand.
final class HandKeys: TokenKeys {
  private let state: Mutex<(set: WebKeySet, generation: Int)>
  let refreshes = Atomic<Int>(0)
  let mayRefresh: Bool

  init(_ set: WebKeySet, mayRefresh: Bool = true) {
    state = Mutex((set, 0))
    self.mayRefresh = mayRefresh
  }

  func give(_ set: WebKeySet) { state.withLock { $0 = (set, $0.generation + 1) } }

  var current: (set: WebKeySet, generation: Int) { state.withLock { $0 } }

  func refresh() -> Bool {
    refreshes.wrappingAdd(1, ordering: .relaxed)
    return mayRefresh
  }

  func arrive() async -> Bool { true }
}

func verifier(
  _ keys: any TokenKeys, maySpend: Bool = false, metrics: Metrics = Metrics(),
  clock: ManualClock = ManualClock(SampleIssuer.now)
) -> TokenVerifier {
  TokenVerifier(
    issuer: "https://id.example.com", audience: "purser", maySpend: maySpend, keys: keys,
    metrics: metrics, now: { clock.now() })
}
