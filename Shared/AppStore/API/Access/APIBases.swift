/// Where Apple's API stands for each environment.
public struct APIBases: Sendable, Equatable {
  private var bases: [AppEnvironment: String]

  /// Apple's own hosts.
  public static let apple = APIBases(
    trusted: [
      .production: "https://api.storekit.apple.com",
      .sandbox: "https://api.storekit-sandbox.apple.com",
    ])

  private init(trusted bases: [AppEnvironment: String]) { self.bases = bases }

  /// Other hosts, such as a simulator's, instead of Apple's.
  ///
  /// - Throws: `APIError` for Xcode, which has no server, and for text that is no http URL.
  public init(_ replaced: [AppEnvironment: String]) throws(APIError) {
    self = .apple
    for (environment, text) in replaced {
      guard environment != .xcode else { throw Self.noServer(.xcode) }
      bases[environment] = try Self.checked(text)
    }
  }

  /// The base URL, without a slash at its end.
  ///
  /// - Throws: `APIError` of kind `noServer`: a request of Xcode must never reach production.
  public func base(of environment: AppEnvironment) throws(APIError) -> String {
    guard let base = bases[environment] else { throw Self.noServer(environment) }
    return base
  }

  private static func checked(_ text: String) throws(APIError) -> String {
    var base = text[...]
    while base.hasSuffix("/") { base = base.dropLast() }
    let lowered = base.lowercased()
    let scheme = ["https://", "http://"].first { lowered.hasPrefix($0) }
    let isPlain = base.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3F && $0 != 0x23 }
    guard let scheme, base.count > scheme.count, isPlain else {
      throw APIError(
        .badRequest(field: "base URL"),
        message: "\(text) is no absolute http or https URL without query")
    }
    return String(base)
  }

  private static func noServer(_ environment: AppEnvironment) -> APIError {
    APIError(.noServer(environment), message: "no API server answers for \(environment)")
  }
}
