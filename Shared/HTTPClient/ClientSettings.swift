/// Bounds and trust of a client.
public struct ClientSettings: Sendable {
  /// Time for a whole request when it names none.
  public var timeout: Duration = .seconds(30)
  /// No request takes longer, whatever it asks for.
  public var longestTimeout: Duration = .seconds(300)
  /// Time for name, connection and TLS.
  public var connectTimeout: Duration = .seconds(5)
  /// Longest body of an answer, in bytes.
  public var bodyBytes = 4 * 1024 * 1024
  /// Requests that wait for a worker; more fail as `busy`.
  public var waiting = 256
  /// A PEM file of the authorities to trust, instead of the system's.
  public var caFile: String?
  /// The same as text; wins over the file.
  public var caPEM: [UInt8]?

  /// Whether only addresses are connected to that all the world can reach: neither this machine nor a
  /// private network, whatever a name resolves to; then no proxy of the environment is used either.
  public var publicAddressesOnly = false

  /// The defaults.
  public init() {}
}
