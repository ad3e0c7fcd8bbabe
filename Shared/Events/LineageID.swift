public import JSON

/// Names a lineage: all transactions of one bundle id, environment and original transaction id.
public struct LineageID: Codable, Hashable, Sendable, CustomStringConvertible {
  /// The app.
  public let bundleId: String
  /// Apple's environment: `Production`, `Sandbox` or `Xcode`.
  public let environment: String
  /// Apple's `originalTransactionId`.
  public let originalTransactionId: String

  /// Makes a name.
  public init(bundleId: String, environment: String, originalTransactionId: String) {
    self.bundleId = bundleId
    self.environment = environment
    self.originalTransactionId = originalTransactionId
  }

  /// `bundleId/environment/originalTransactionId`: the key in topics and stores.
  public var description: String { "\(bundleId)/\(environment)/\(originalTransactionId)" }

  /// Reads what `description` wrote.
  public init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
    self.init(
      bundleId: String(parts[0]), environment: String(parts[1]),
      originalTransactionId: String(parts[2]))
  }
}

extension LineageID: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      bundleId: try fields.text("bundleId"), environment: try fields.text("environment"),
      originalTransactionId: try fields.text("originalTransactionId"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("bundleId", bundleId)
    json.text("environment", environment)
    json.text("originalTransactionId", originalTransactionId)
  }
}
