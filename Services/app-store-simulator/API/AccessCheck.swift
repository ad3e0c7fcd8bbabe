import Cryptography
import FoundationEssentials
import HTTPServer

/// Checks bearer tokens as the App Store Server API does: signature, key, issuer, audience, app, time.
struct AccessCheck: Sendable {
  private struct Header: Decodable {
    var alg: String
    var kid: String
  }

  private struct Claims: Decodable {
    var iss: String
    var aud: String
    var bid: String
    var exp: Double
    var iat: Double?
  }

  let key: SimulatedKey
  let bundleId: String
  /// UNIX milliseconds by the moved clock and by the machine's.
  ///
  /// Callers may go by either, so a token that is fit by one of them is fit.
  let clocks: [@Sendable () -> Int64]

  /// A token lives at most an hour.
  private static let longest: Double = 3_600
  /// Clocks may differ by this much, seconds.
  private static let skew: Double = 60

  /// Whether the request bears a token that this store gave a key for.
  func accepts(_ request: Request) -> Bool {
    guard let field = request.headers["Authorization"], field.hasPrefix("Bearer ") else {
      return false
    }
    let parts = field.dropFirst("Bearer ".count).split(
      separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header: Header = Self.json(parts[0]), header.alg == "ES256",
      header.kid == key.keyId, let claims: Claims = Self.json(parts[1]),
      let signature = Base64URL.decode(String(parts[2]))
    else { return false }
    let message = Array("\(parts[0]).\(parts[1])".utf8)
    guard key.key.publicKey.verifyES256(signature: signature, over: message) else { return false }
    return claims.iss == key.issuerId && claims.aud == "appstoreconnect-v1"
      && claims.bid == bundleId && clocks.contains { isFit(claims, Double($0()) / 1_000) }
  }

  private func isFit(_ claims: Claims, _ now: Double) -> Bool {
    let start = claims.iat ?? now
    return claims.exp > now && claims.exp - start <= Self.longest && start <= now + Self.skew
      && claims.exp <= now + Self.longest + Self.skew
  }

  private static func json<Value: Decodable>(_ part: Substring) -> Value? {
    guard let bytes = Base64URL.decode(String(part)) else { return nil }
    return try? JSONDecoder().decode(Value.self, from: Data(bytes))
  }
}

/// The In-App Purchase key that the simulated App Store Connect gave out.
struct SimulatedKey: Sendable {
  let issuerId: String
  let keyId: String
  let key: PrivateKey

  /// Reads the key of a file, or makes one and writes it there for services to use.
  init(issuerId: String, keyId: String, file: String?) throws {
    self.issuerId = issuerId
    self.keyId = keyId
    guard let file else {
      key = try PrivateKey(generate: .p256)
      return
    }
    if let known = FileManager.default.contents(atPath: file) {
      do {
        key = try PrivateKey(pem: String(decoding: known, as: UTF8.self))
      } catch {
        throw FileFault(
          description: "SIMULATOR_API_KEY_FILE names \(file), which holds no private key: \(error)")
      }
      return
    }
    key = try PrivateKey(generate: .p256)
    try FileFault.write(Array(try key.pem().utf8), to: file, setting: "SIMULATOR_API_KEY_FILE")
  }
}
