import Cryptography
import Events
import FoundationEssentials

/// Why a text is no token that can be used; fit for the caller.
struct TokenFault: Error, Equatable { let detail: String }

/// A JWT (RFC 7519) in compact form, taken apart; nothing of it is trusted yet.
struct UnprovedToken {
  /// Longer ones are refused.
  static let longest = 8192

  let algorithm: WebKey.Algorithm
  let keyId: String?
  let message: [UInt8]
  let signature: [UInt8]
  let payload: [UInt8]

  private struct Header: Decodable {
    let alg: String
    let kid: String?
    let crit: [String]?
  }

  init(_ text: String) throws(TokenFault) {
    guard text.utf8.count <= Self.longest else {
      throw TokenFault(detail: "The token is longer than \(Self.longest) bytes.")
    }
    let bytes = Array(text.utf8)
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Base64URL.decode(Array(parts[0])),
      let payload = Base64URL.decode(Array(parts[1])),
      let signature = Base64URL.decode(Array(parts[2])), !signature.isEmpty
    else { throw TokenFault(detail: "The token is not three parts of base64url without padding.") }
    let read: Header
    do {
      read = try JSONDecoder().decode(Header.self, from: Data(header))
    } catch {
      throw TokenFault(detail: "The token's header is no JSON object with 'alg'.")
    }
    guard read.crit == nil else {
      throw TokenFault(
        detail: "The token's header asks for extensions ('crit') that are not known here.")
    }
    // Only what is named here is verified: `none` and the symmetric algorithms never are.
    guard let algorithm = WebKey.Algorithm(rawValue: read.alg) else {
      let known = WebKey.Algorithm.allCases.map(\.rawValue).joined(separator: " or ")
      throw TokenFault(detail: "The token's algorithm is not \(known).")
    }
    self.algorithm = algorithm
    keyId = read.kid
    message = Array(bytes[..<parts[1].endIndex])
    self.signature = signature
    self.payload = payload
  }
}

/// What a token whose signature stands says, as far as it is used.
struct TokenClaims {
  /// How far clocks may differ, in milliseconds.
  static let leeway: Int64 = 30_000

  let customer: String
  /// UTC milliseconds.
  let expires: Int64
  private let notBefore: Int64?
  private let issuer: String?
  private let audience: [String]

  private struct Body: Decodable {
    let iss: String?
    let sub: String?
    let exp: Double?
    let nbf: Double?
    let aud: Audience?
  }

  /// One text or a list of them (RFC 7519 §4.1.3).
  private struct Audience: Decodable {
    let all: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let one = try? container.decode(String.self) {
        all = [one]
      } else {
        all = try container.decode([String].self)
      }
    }
  }

  init(payload: [UInt8]) throws(TokenFault) {
    let body: Body
    do {
      body = try JSONDecoder().decode(Body.self, from: Data(payload))
    } catch {
      throw TokenFault(
        detail: "The token's claims cannot be read: iss, sub, aud, exp or nbf is malformed.")
    }
    guard let sub = body.sub else {
      throw TokenFault(detail: "The token has no 'sub', the customer.")
    }
    do throws(Customer.Fault) {
      try Customer.check(sub)
    } catch {
      throw TokenFault(
        detail: "The token's 'sub' is no customer id: it has 1 to \(Customer.maximumBytes) bytes "
          + "without control characters and does not begin with '$'.")
    }
    guard let exp = body.exp, let expires = Self.milliseconds(exp) else {
      throw TokenFault(detail: "The token has no 'exp'; every token must expire.")
    }
    customer = sub
    self.expires = expires
    notBefore = try body.nbf.map { (nbf) throws(TokenFault) in
      guard let time = Self.milliseconds(nbf) else {
        throw TokenFault(detail: "The token's 'nbf' is no time.")
      }
      return time
    }
    issuer = body.iss
    audience = body.aud?.all ?? []
  }

  private static func milliseconds(_ seconds: Double) -> Int64? {
    guard seconds.isFinite, (0...253_402_300_799).contains(seconds) else { return nil }
    return Int64(seconds * 1000)
  }

  /// Checks for whom, by whom and when the token is.
  func check(issuer wanted: String, audience name: String, at now: Int64) throws(TokenFault) {
    guard issuer == wanted else {
      throw TokenFault(detail: "The token's 'iss' is not the issuer that is configured.")
    }
    guard audience.contains(name) else {
      throw TokenFault(detail: "The token's 'aud' does not name this service.")
    }
    if let notBefore, now < notBefore - Self.leeway {
      throw TokenFault(detail: "The token's 'nbf' lies ahead.")
    }
  }

  /// Whether the token's time is over.
  func hasExpired(at now: Int64) -> Bool { now >= expires + Self.leeway }
}
