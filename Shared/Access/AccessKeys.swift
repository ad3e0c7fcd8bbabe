import Cryptography
import HTTPServer

/// API keys: only their SHA-256 is held.
///
/// One key a line, as `KeyLine` says; empty lines and lines with `#` in front are skipped. The hash
/// is over the key's UTF-8 bytes: `printf %s "$key" | sha256sum`.
public struct AccessKeys: Sendable {
  /// More keys than this are refused.
  public static let limit = 10_000

  /// The lines in the order of the file.
  public let lines: [KeyLine]
  private let principals: [Principal]
  /// Places in `lines` by the first eight bytes of the hash.
  private let places: [UInt64: [Int]]

  /// Whether there is no key at all.
  public var isEmpty: Bool { lines.isEmpty }

  /// No key.
  static let none = AccessKeys()

  private init() {
    lines = []
    principals = []
    places = [:]
  }

  /// Reads a key file.
  ///
  /// - Throws: `AccessKeysError` naming every line that cannot be used.
  public init(parsing text: String) throws(AccessKeysError) {
    var lines: [KeyLine] = []
    var seen: Set<[UInt8]> = []
    var faults: [AccessKeysError.Fault] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let line = line.drop(while: \.isWhitespace)
      if line.isEmpty || line.hasPrefix("#") { continue }
      do throws(KeyLine.Fault) {
        let line = try KeyLine(parsing: line)
        if seen.insert(line.hash).inserted {
          lines.append(line)
        } else {
          faults.append(.init(line: index + 1, problem: "repeats the key of another line"))
        }
      } catch {
        faults.append(.init(line: index + 1, problem: error.problem))
      }
    }
    if lines.count > Self.limit {
      faults.append(.init(line: 0, problem: "there are more than \(Self.limit) keys"))
    }
    guard faults.isEmpty else { throw AccessKeysError(faults: faults) }
    self.lines = lines
    principals = lines.map { Principal(name: $0.name, scopes: Set($0.scopes)) }
    places = Dictionary(grouping: lines.indices) { Self.start(of: lines[$0].hash) }
  }

  /// What a presented key is.
  enum Finding: Sendable {
    case unknown
    case expired(Principal)
    case valid(Principal)
  }

  /// Whose a key is at a time, in UTC milliseconds.
  ///
  /// The first bytes of the hash find the line, and the whole is compared in constant time: what
  /// that tells of a stored hash helps nobody to a key, as keys are long and random.
  func find(_ key: String, at now: Int64) -> Finding {
    let hash = SHA256.hash(key)
    for place in places[Self.start(of: hash), default: []]
    where constantTimeEquals(lines[place].hash, hash) {
      let hasExpired = lines[place].expires.map { $0 <= now } ?? false
      return hasExpired ? .expired(principals[place]) : .valid(principals[place])
    }
    return .unknown
  }

  private static func start(of hash: [UInt8]) -> UInt64 {
    hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// A key file that cannot be used.
public struct AccessKeysError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong with one line; never quotes a key or a hash.
  public struct Fault: Sendable, Equatable {
    /// Counted from 1; 0 for the file as a whole.
    public let line: Int
    /// What is wrong.
    public let problem: String
  }

  /// Every fault that was found.
  public let faults: [Fault]

  /// All faults, a line each.
  public var description: String {
    faults.map { "line \($0.line) of the keys \($0.problem)" }.joined(separator: "\n")
  }
}
