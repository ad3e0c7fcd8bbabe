import Cryptography
import FoundationEssentials

/// The public keys of a token's issuer (JWKS, RFC 7517 §5).
///
/// Keys of other kinds than P-256 and RSA, and those that are not for signatures, are left out.
public struct WebKeySet: Sendable {
  /// More keys than this are refused.
  static let limit = 100

  private struct Entry: Sendable {
    let id: String?
    let key: WebKey
  }

  private let entries: [Entry]

  /// How many keys can be used.
  public var count: Int { entries.count }

  /// No key.
  static let empty = WebKeySet(entries: [])

  private init(entries: [Entry]) { self.entries = entries }

  private struct Document: Decodable {
    let keys: [Member]
  }

  private struct Member: Decodable {
    let kty: String
    let kid: String?
    let use: String?
    let alg: String?
    let keyOps: [String]?
    let crv: String?
    let x: String?
    let y: String?
    let n: String?
    let e: String?

    enum CodingKeys: String, CodingKey {
      case kty, kid, use, alg, crv, x, y, n, e
      case keyOps = "key_ops"
    }
  }

  /// Reads a set.
  ///
  /// - Throws: `WebKeySetError` for text that is none, and for a set without a key that can be used.
  public init(json bytes: [UInt8]) throws(WebKeySetError) {
    let document: Document
    do {
      document = try JSONDecoder().decode(Document.self, from: Data(bytes))
    } catch {
      throw WebKeySetError(problem: "is no JSON object with a list 'keys' (RFC 7517 §5)")
    }
    guard document.keys.count <= Self.limit else {
      throw WebKeySetError(problem: "has more than \(Self.limit) keys")
    }
    entries = document.keys.compactMap { member in
      Self.key(member).map { Entry(id: member.kid, key: $0) }
    }
    guard !entries.isEmpty else {
      throw WebKeySetError(
        problem: "has no key for ES256 or RS256 (P-256, or RSA of \(WebKey.shortestRSA) bits)")
    }
  }

  private static func key(_ member: Member) -> WebKey? {
    guard member.use ?? "sig" == "sig", member.keyOps?.contains("verify") ?? true else {
      return nil
    }
    let key: WebKey?
    switch (member.kty, member.crv) {
    case ("EC", "P-256"?):
      guard let x = decode(member.x), let y = decode(member.y) else { return nil }
      key = try? WebKey(p256x: x, y: y)
    case ("RSA", _):
      guard let n = decode(member.n), let e = decode(member.e) else { return nil }
      key = try? WebKey(modulus: n, exponent: e)
    default: return nil
    }
    guard let key, member.alg ?? key.algorithm.rawValue == key.algorithm.rawValue else {
      return nil
    }
    return key
  }

  private static func decode(_ text: String?) -> [UInt8]? { text.flatMap { Base64URL.decode($0) } }

  /// What a look for a key found.
  enum Finding: Sendable {
    case key(WebKey)
    /// There may be such a key by now: the set should be fetched again.
    case unknownId
    /// The token names no key, and several fit.
    case ambiguous
  }

  /// The key for a token: by its id, or the only one of the algorithm when the token names none.
  func find(id: String?, _ algorithm: WebKey.Algorithm) -> Finding {
    let fitting = entries.filter { entry in
      entry.key.algorithm == algorithm && (id == nil || entry.id == id)
    }
    guard let first = fitting.first else { return .unknownId }
    return fitting.count == 1 ? .key(first.key) : .ambiguous
  }
}

/// A set of keys that cannot be used.
public struct WebKeySetError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong.
  public let problem: String

  /// One sentence.
  public var description: String { "the set of token keys \(problem)" }
}
