import Cryptography

/// API keys: only their SHA-256 is held, and every comparison takes the same time.
///
/// One key a line, `name:scope+scope:sha256hex`; empty lines and lines with `#` in front are skipped.
/// The hash is over the key's UTF-8 bytes: `printf %s "$key" | sha256sum`.
public struct AccessKeys: Sendable {
  struct Entry: Sendable {
    let principal: Principal
    let hash: [UInt8]
  }

  /// More keys than this are refused: each request is compared with all of them.
  public static let limit = 1000

  let entries: [Entry]

  /// Whether there is no key at all.
  public var isEmpty: Bool { entries.isEmpty }

  /// Reads a key file.
  ///
  /// - Throws: `AccessKeysError` naming every line that cannot be used.
  public init(parsing text: String) throws(AccessKeysError) {
    var entries: [Entry] = []
    var faults: [AccessKeysError.Fault] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let line = line.filter { !$0.isWhitespace }
      if line.isEmpty || line.hasPrefix("#") { continue }
      switch Self.entry(line, seen: entries) {
      case .success(let entry): entries.append(entry)
      case .failure(let fault): faults.append(.init(line: index + 1, problem: fault.problem))
      }
    }
    if entries.count > Self.limit {
      faults.append(.init(line: 0, problem: "there are more than \(Self.limit) keys"))
    }
    guard faults.isEmpty else { throw AccessKeysError(faults: faults) }
    self.entries = entries
  }

  private struct LineFault: Error { let problem: String }

  private static func entry(_ line: String, seen: [Entry]) -> Result<Entry, LineFault> {
    // Scopes hold colons themselves, so the name ends at the first and the hash begins at the last.
    guard let first = line.firstIndex(of: ":"), let last = line.lastIndex(of: ":"), first < last
    else { return .failure(LineFault(problem: "is not name:scope+scope:sha256hex")) }
    let name = String(line[..<first])
    guard !name.isEmpty, name.utf8.count <= 64 else {
      return .failure(LineFault(problem: "needs a name of 1 to 64 bytes"))
    }
    guard !seen.contains(where: { $0.principal.name == name }) else {
      return .failure(LineFault(problem: "repeats the name '\(name)'"))
    }
    var scopes: Set<Scope> = []
    for word in line[line.index(after: first)..<last].split(separator: "+") {
      let scope = Scope(rawValue: String(word))
      guard Scope.all.contains(scope) else {
        let known = Scope.all.map(\.rawValue).joined(separator: ", ")
        return .failure(LineFault(problem: "has an unknown scope; the scopes are \(known)"))
      }
      scopes.insert(scope)
    }
    guard !scopes.isEmpty else { return .failure(LineFault(problem: "has no scope")) }
    guard let hash = Hex.decode(line[line.index(after: last)...].lowercased()), hash.count == 32
    else {
      return .failure(LineFault(problem: "needs a SHA-256 of 64 hexadecimal digits at its end"))
    }
    guard !seen.contains(where: { $0.hash == hash }) else {
      return .failure(LineFault(problem: "repeats the key of another line"))
    }
    let principal = Principal(name: name, scopes: scopes)
    return .success(Entry(principal: principal, hash: hash))
  }

  /// The owner of a key; looks at all keys, whichever fits.
  func principal(of key: String) -> Principal? {
    let hash = SHA256.hash(key)
    var found: Principal?
    for entry in entries where constantTimeEquals(entry.hash, hash) { found = entry.principal }
    return found
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
