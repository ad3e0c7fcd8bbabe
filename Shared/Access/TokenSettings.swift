import FoundationEssentials
import HTTPServer
import ServiceRuntime

/// Whose tokens are taken, from the settings.
struct TokenSettings: Sendable {
  /// Where the issuer's keys are.
  enum Place: Sendable {
    case file(Reloadable<WebKeySet>)
    case address(String)
  }

  /// What a source of keys brings along.
  struct Source: Sendable {
    let keys: any TokenKeys
    var watched: [any Watched] = []
    var services: [any Service] = []
  }

  let issuer: String
  let audience: String
  let maySpend: Bool
  private let place: Place

  /// Nil when no issuer is configured, or when its settings have faults.
  init?(_ reader: inout SettingsReader) {
    let issuer = reader.optionalText(
      "PURSER_JWT_ISSUER", "the 'iss' of tokens by which an app speaks for its customer")
    let audience = reader.optionalText(
      "PURSER_JWT_AUDIENCE", "the 'aud' that such tokens must name")
    let keys = reader.optionalText(
      "PURSER_JWT_KEYS", "the issuer's public keys (JWKS): a file, or an https address")
    maySpend = reader.flag(
      "PURSER_JWT_SPEND", default: false, "let such tokens spend their own customer's balances")
    let given = [issuer, audience, keys].compactMap(\.self)
    guard !given.isEmpty else { return nil }
    guard let issuer, let audience, let keys else {
      reader.fault(
        "PURSER_JWT_ISSUER",
        "goes with PURSER_JWT_AUDIENCE and PURSER_JWT_KEYS; give all three, or none of them")
      return nil
    }
    self.issuer = issuer
    self.audience = audience
    let isLocal = ["http://127.0.0.1:", "http://127.0.0.1/"].contains { keys.hasPrefix($0) }
    if keys.hasPrefix("https://") || isLocal {
      place = .address(keys)
      return
    }
    guard !keys.hasPrefix("http://") else {
      reader.fault("PURSER_JWT_KEYS", "is fetched without TLS; give an https address or a file")
      return nil
    }
    do {
      place = .file(
        try Reloadable("token keys") { note in
          note(keys)
          guard let data = try? Data(contentsOf: URL(filePath: keys)) else {
            throw WebKeySetError(problem: "'\(keys)' cannot be read")
          }
          return try WebKeySet(json: [UInt8](data))
        })
    } catch {
      reader.fault("PURSER_JWT_KEYS", "cannot be used: \(error)")
      return nil
    }
  }

  func source(log: Log, metrics: Metrics) throws -> Source {
    switch place {
    case .file(let file): return Source(keys: TokenKeyFile(file), watched: [file])
    case .address(let url):
      let fetcher = TokenKeyFetcher(url: url, log: log, metrics: metrics)
      return Source(keys: fetcher, services: [fetcher])
    }
  }
}
