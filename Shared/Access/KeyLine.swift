import Cryptography
public import HTTPServer
import ServiceRuntime

/// One line of a key file: `name:scope+scope:sha256hex`, perhaps with ` expires=2027-01-31` behind it.
///
/// Several lines may have one name, so that a new key is there before the old one goes.
public struct KeyLine: Sendable, Equatable {
  /// Whose key it is: 1 to 64 letters, digits, dots, underscores and hyphens.
  public let name: String
  /// What the key may do.
  public let scopes: [Scope]
  /// SHA-256 of the key's UTF-8.
  public let hash: [UInt8]
  /// From when on the key is refused, UTC milliseconds; nil for never.
  public let expires: Int64?

  /// Makes a line; nil for a name or scopes that no line may have.
  public init?(name: String, scopes: [Scope], hash: [UInt8], expires: Int64?) {
    guard Self.isName(name), !scopes.isEmpty, scopes.allSatisfy(Scope.all.contains),
      hash.count == 32
    else { return nil }
    self.name = name
    self.scopes = scopes
    self.hash = hash
    self.expires = expires
  }

  /// By what a key is told from others of its name: the first eight digits of its hash.
  public var fingerprint: String { Hex.encode(hash.prefix(4)) }

  /// The line as it stands in a file.
  public var text: String {
    let line = "\(name):\(scopes.map(\.rawValue).joined(separator: "+")):\(Hex.encode(hash))"
    return expires.map { "\(line) expires=\(rfc3339($0))" } ?? line
  }

  /// The rule for names, in words.
  public static let nameRule =
    "1 to 64 letters, digits, '.', '_' and '-', and not '\(Principal.nobody)', as logs call whoever "
    + "needs no key"

  /// Whether a key may have a name.
  public static func isName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count) && name != Principal.nobody
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
        default: false
        }
      }
  }

  /// What is wrong with a line; never quotes a key or a hash.
  struct Fault: Error { let problem: String }

  init(parsing text: Substring) throws(Fault) {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard let line = words.first, let first = line.firstIndex(of: ":"),
      // Scopes hold colons themselves, so the name ends at the first and the hash begins at the last.
      let last = line.lastIndex(of: ":"), first < last
    else { throw Fault(problem: "is not name:scope+scope:sha256hex") }
    let name = String(line[..<first])
    guard Self.isName(name) else {
      throw Fault(problem: "needs a name of \(Self.nameRule)")
    }
    var scopes: [Scope] = []
    for word in line[line.index(after: first)..<last].split(separator: "+") {
      let scope = Scope(rawValue: String(word))
      guard Scope.all.contains(scope) else {
        let known = Scope.all.map(\.rawValue).joined(separator: ", ")
        throw Fault(problem: "has an unknown scope; the scopes are \(known)")
      }
      if !scopes.contains(scope) { scopes.append(scope) }
    }
    guard !scopes.isEmpty else { throw Fault(problem: "has no scope") }
    guard let hash = Hex.decode(line[line.index(after: last)...].lowercased()), hash.count == 32
    else { throw Fault(problem: "needs a SHA-256 of 64 hexadecimal digits behind its scopes") }
    var expires: Int64?
    for word in words.dropFirst() {
      guard word.hasPrefix("expires="), expires == nil,
        let time = milliseconds(rfc3339: String(word.dropFirst("expires=".count)))
      else {
        throw Fault(
          problem: "may have only expires=2027-01-31 or expires=2027-01-31T08:00:00Z at its end")
      }
      expires = time
    }
    self.name = name
    self.scopes = scopes
    self.hash = hash
    self.expires = expires
  }
}
