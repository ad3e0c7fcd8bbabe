public import ServiceRuntime

/// Where a service listens and whom it lets in, from its settings.
public struct HTTPSettings: Sendable {
  /// The address to listen on.
  public let host: String
  /// The port; 0 takes any free one.
  public let port: Int
  /// Who may do what.
  public let access: AccessPolicy

  /// Reads `<prefix>_HTTP_HOST`, `<prefix>_HTTP_PORT`, `PURSER_API_KEYS` and `PURSER_INSECURE`.
  ///
  /// - Parameters:
  ///   - reader: Collects faults and declarations.
  ///   - prefix: Such as `ORDER`.
  ///   - port: The default port.
  public init(_ reader: inout SettingsReader, prefix: String, port: Int) {
    host = reader.text("\(prefix)_HTTP_HOST", default: "127.0.0.1", "the address to listen on")
    self.port = reader.integer(
      "\(prefix)_HTTP_PORT", default: port, in: 0...65535, "the port to listen on; 0 takes any")
    let keys = reader.secret(
      "PURSER_API_KEYS", "API keys, a line each: name:scope+scope:sha256 of the key in hex")
    let isInsecure = reader.flag(
      "PURSER_INSECURE", default: false, "serve everyone without a key; for development only")

    if isInsecure {
      access = .insecure
      if keys != nil {
        reader.fault("PURSER_INSECURE", "is set, and so are API keys; give only one of them")
      }
      return
    }
    do {
      let parsed = try AccessKeys(parsing: keys?.reveal ?? "")
      if parsed.isEmpty {
        reader.fault(
          "PURSER_API_KEYS",
          "holds no key; give one, or set PURSER_INSECURE=1 for development")
      }
      access = AccessPolicy(keys: parsed)
    } catch {
      reader.fault("PURSER_API_KEYS", "cannot be used: \(error)")
      access = .insecure
    }
  }
}
