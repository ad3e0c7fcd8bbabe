import Access
import Cryptography
import HTTPServer
import ServiceRuntime

/// `purser keys create`, `purser keys list` and `purser keys revoke`.
enum KeysCommand {
  private static let file = Command.Option(
    name: "--file", value: "PATH", help: "the key file (default: PURSER_API_KEYS_FILE)")

  static let create = Command(
    name: "keys create",
    synopsis: "NAME --scopes SCOPE+SCOPE [--expires TIME] [--file PATH]",
    summary: "Makes an API key and shows it, once",
    about: """
      Makes a key, adds its SHA-256 to the key file, and writes the key to standard output. The key
      itself is stored nowhere: who loses it makes another. The services read the file again within
      about a second, without a restart.

      Several keys may have one name. To rotate a key, make a second one of its name, give it to its
      user, and revoke the first.

      Scopes: orders, entitlements:read, entitlements:write, admin (which implies all).
      """,
    options: [
      .init(name: "--scopes", value: "SCOPES", help: "what the key may do, joined by +"),
      .init(
        name: "--expires", value: "TIME",
        help: "when it ends: 90d, 12h, 2027-01-31 or a time of RFC 3339\n(default: never)"),
      file,
    ],
    operands: 1...1,
    examples: [
      "purser keys create shop --scopes orders+entitlements:read --expires 365d",
      "purser keys create support --scopes admin --file /etc/purser/keys",
    ]
  ) { arguments, settings in
    try create(arguments, settings)
  }

  static let list = Command(
    name: "keys list", synopsis: "[--file PATH]",
    summary: "Shows the keys of the key file, without the keys themselves",
    about: """
      Prints a line for each key: its name, the first digits of its hash, by which 'purser keys
      revoke' tells keys of one name apart, its scopes, and when it ends.
      """,
    options: [file], examples: ["purser keys list --file /etc/purser/keys"]
  ) { arguments, settings in
    let path = try path(arguments, settings)
    Terminal(settings).line(table(try KeyFile(path: path).read().lines, at: SystemClock().now()))
    return Tool.success
  }

  static let revoke = Command(
    name: "keys revoke", synopsis: "NAME [--key DIGITS | --all] [--file PATH]",
    summary: "Takes keys out of the key file",
    about: """
      Removes the key of a name. Where a name has several, say which by the first digits of its hash,
      as 'purser keys list' shows them, or take all with --all. Comments and other lines stay. The
      services refuse the key within about a second.
      """,
    options: [
      .init(name: "--key", value: "DIGITS", help: "the first digits of the key's hash"),
      .init(name: "--all", help: "every key of the name"),
      file,
    ],
    operands: 1...1,
    examples: ["purser keys revoke shop --key 1f3a90bc"]
  ) { arguments, settings in
    try revoke(arguments, settings)
  }

  private static func path(_ arguments: Arguments, _ settings: Settings) throws -> String {
    guard let path = arguments.text("--file") ?? settings.keyFile else {
      throw arguments.error("no key file is named; give --file, or set PURSER_API_KEYS_FILE")
    }
    return path
  }

  private static func create(_ arguments: Arguments, _ settings: Settings) throws -> Int32 {
    let path = try path(arguments, settings)
    let name = arguments.operands[0]
    guard KeyLine.isName(name) else {
      throw arguments.error("'\(name.prefix(80))' is no name for a key: use \(KeyLine.nameRule)")
    }
    let words = (arguments.text("--scopes") ?? "").split(separator: "+").map(String.init)
    let known = Scope.all.map(\.rawValue).joined(separator: ", ")
    guard !words.isEmpty else {
      throw arguments.error("--scopes is missing; give some of \(known), joined by +")
    }
    if let unknown = words.first(where: { !Scope.all.contains(Scope(rawValue: $0)) }) {
      throw arguments.error("--scopes has '\(unknown.prefix(80))'; the scopes are \(known)")
    }
    let key = "purser_" + Base64URL.encode(randomBytes(32))
    let expires = try arguments.text("--expires").map { text in
      guard let time = expiry(text, from: SystemClock().now()) else {
        throw arguments.error(
          "--expires is '\(text)'; give 90d, 12h, 2027-01-31 or 2027-01-31T08:00:00Z, in the future"
        )
      }
      return time
    }
    guard
      let line = KeyLine(
        name: name, scopes: words.map(Scope.init(rawValue:)), hash: SHA256.hash(key),
        expires: expires)
    else { throw arguments.error("'\(name)' cannot have such a key") }
    try KeyFile(path: path).add(line)
    Terminal.complain(
      "purser: '\(line.name)' (\(line.fingerprint)) is in \(path); its key follows, and is shown once"
    )
    Terminal.standard.line(key)
    return Tool.success
  }

  private static func revoke(_ arguments: Arguments, _ settings: Settings) throws -> Int32 {
    let file = KeyFile(path: try path(arguments, settings))
    let name = arguments.operands[0]
    let digits = arguments.text("--key")?.lowercased()
    let found = try file.read().lines.filter { line in
      line.name == name && (digits.map { Hex.encode(line.hash).hasPrefix($0) } ?? true)
    }
    guard !found.isEmpty else {
      throw arguments.error("there is no such key of '\(name)'; 'purser keys list' shows them")
    }
    guard found.count == 1 || arguments.has("--all") else {
      let choices = found.map(\.fingerprint).joined(separator: ", ")
      throw arguments.error("'\(name)' has several keys (\(choices)); give --key or --all")
    }
    try file.remove(found)
    for line in found { Terminal(settings).line("revoked \(line.name) (\(line.fingerprint))") }
    return Tool.success
  }

  /// A time in the future: `90d`, `12h`, a date, or a time of RFC 3339.
  static func expiry(_ text: String, from now: Int64) -> Int64? {
    if let age = StartingPlace.age(text) { return age > 0 ? now + age : nil }
    return milliseconds(rfc3339: text).flatMap { $0 > now ? $0 : nil }
  }

  /// The lines of `keys list`.
  static func table(_ lines: [KeyLine], at now: Int64) -> String {
    guard !lines.isEmpty else { return "no keys" }
    let width = max(4, lines.map(\.name.count).max() ?? 0)
    let scopes = lines.map { $0.scopes.map(\.rawValue).joined(separator: "+") }
    let scopeWidth = max(6, scopes.map(\.count).max() ?? 0)
    let rows = zip(lines, scopes).map { line, scopes in
      let end =
        line.expires.map { $0 <= now ? "expired \(rfc3339($0))" : "until \(rfc3339($0))" }
        ?? "no end"
      return
        "\(padded(line.name, width))  \(line.fingerprint)  \(padded(scopes, scopeWidth))  \(end)"
    }
    let head = "\(padded("name", width))  hash      \(padded("scopes", scopeWidth))  ends"
    return ([head] + rows).joined(separator: "\n")
  }
}
