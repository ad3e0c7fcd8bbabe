import Cryptography
public import HTTPServer
public import ServiceRuntime

/// Where a service listens and whom it lets in, from its settings.
public struct HTTPSettings: Sendable {
  /// The address to listen on.
  public let host: String
  /// The port; 0 takes any free one.
  public let port: Int
  private let isInsecure: Bool
  private let keys: Reloadable<AccessKeys>
  private let tokens: TokenSettings?
  private let perKey: RateQuota?
  private let perCustomer: RateQuota?
  private let crossOrigin: CrossOrigin?

  /// Reads `<prefix>_HTTP_HOST`, `<prefix>_HTTP_PORT`, and the settings of access, which all services
  /// share.
  ///
  /// - Parameters:
  ///   - reader: Collects faults and declarations.
  ///   - prefix: Such as `ORDER`.
  ///   - port: The default port.
  public init(_ reader: inout SettingsReader, prefix: String, port: Int) {
    host = reader.text("\(prefix)_HTTP_HOST", default: "127.0.0.1", "the address to listen on")
    self.port = reader.integer(
      "\(prefix)_HTTP_PORT", default: port, in: 0...65535, "the port to listen on; 0 takes any")
    let faultsBefore = reader.faults.count
    keys = Self.keys(&reader)
    isInsecure = reader.flag(
      "PURSER_INSECURE", default: false, "serve everyone without a key; for development only")
    tokens = TokenSettings(&reader)
    perKey = Self.quota(
      &reader, "PURSER_RATE_PER_KEY", default: "none",
      "how often a key may ask: requests/seconds, such as 6000/60, or none")
    perCustomer = Self.quota(
      &reader, "PURSER_RATE_PER_CUSTOMER", default: "600/60",
      "how often may be asked about or by one customer: requests/seconds, or none")
    crossOrigin = Self.crossOrigin(&reader)
    guard reader.faults.count == faultsBefore else { return }
    if isInsecure, !keys.value.isEmpty || tokens != nil {
      reader.fault(
        "PURSER_INSECURE", "is set, and so are API keys or tokens; give only one of them")
    } else if !isInsecure, keys.value.isEmpty, tokens == nil {
      reader.fault(
        "PURSER_API_KEYS",
        "holds no key; make one with 'purser keys create', or set PURSER_INSECURE=1 for development"
      )
    }
  }

  private static func keys(_ reader: inout SettingsReader) -> Reloadable<AccessKeys> {
    let help = "API keys, a line each: name:scope+scope:sha256, perhaps with expires=2027-01-31"
    let text = reader.secret("PURSER_API_KEYS", help)
    do {
      if let path = reader.fileOfSecret("PURSER_API_KEYS"), text != nil {
        return try Reloadable("API keys") { note in
          note(path)
          return try AccessKeys(parsing: try KeyFile.text(of: path))
        }
      }
      return Reloadable("API keys", fixed: try AccessKeys(parsing: text?.reveal ?? ""))
    } catch {
      reader.fault("PURSER_API_KEYS", "cannot be used: \(error)")
    }
    return Reloadable("API keys", fixed: .none)
  }

  private static func quota(
    _ reader: inout SettingsReader, _ name: String, default value: String, _ help: String
  ) -> RateQuota? {
    let text = reader.text(name, default: value, help)
    if text == "none" { return nil }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let requests = Int(parts[0]), let seconds = Int(parts[1]),
      let quota = RateQuota(requests: requests, seconds: seconds)
    else {
      reader.fault(
        name,
        "is '\(text)'; give requests/seconds, 1 to 1000000 in 1 to 86400 seconds, or none")
      return nil
    }
    return quota
  }

  private static func crossOrigin(_ reader: inout SettingsReader) -> CrossOrigin? {
    let name = "PURSER_CORS_ORIGINS"
    guard
      let text = reader.optionalText(
        name, "origins whose pages may ask from a browser, with commas between; none for no page")
    else { return nil }
    let origins = text.split(separator: ",").map { $0.filter { !$0.isWhitespace } }
    let crossOrigin = CrossOrigin(origins: origins)
    if crossOrigin == nil {
      reader.fault(name, "is '\(text)'; give origins such as https://shop.example.com, or *")
    }
    return crossOrigin
  }

  /// The access layer of a service, made once.
  public func access(log: Log, metrics: Metrics) throws -> AccessLayer {
    let limits = RateLimits(perKey: perKey, perCustomer: perCustomer, metrics: metrics)
    guard !isInsecure else {
      return AccessLayer(
        policy: AccessPolicy(identify: nil, limits: limits, crossOrigin: crossOrigin),
        watched: [], services: [])
    }
    let clock = SystemClock()
    let source = try tokens?.source(log: log, metrics: metrics)
    let verifier = source.flatMap { source in
      tokens.map { tokens in
        TokenVerifier(
          issuer: tokens.issuer, audience: tokens.audience, maySpend: tokens.maySpend,
          keys: source.keys, metrics: metrics, now: { clock.now() })
      }
    }
    let identity = Identity(keys: keys, tokens: verifier, now: { clock.now() })
    var arrival: AccessPolicy.Arrival?
    if let verifier { arrival = { await verifier.keysArrive() } }
    return AccessLayer(
      policy: AccessPolicy(
        identify: { text throws(Problem) in try identity.identify(text) },
        arrival: arrival, limits: limits, crossOrigin: crossOrigin),
      watched: [keys] + (source?.watched ?? []), services: source?.services ?? [])
  }
}

/// The parts of access that a service wires.
public struct AccessLayer: Sendable {
  /// For the router.
  public let policy: AccessPolicy
  /// For the file watch.
  public let watched: [any Watched]
  /// To be started before the server.
  public let services: [any Service]
}
