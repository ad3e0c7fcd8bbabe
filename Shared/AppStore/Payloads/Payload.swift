/// A payload that Apple signs, read from JSON; every field may be missing.
public protocol Payload: Codable, Sendable {
  /// Reads the fields that are present; throws for one of the wrong type.
  init(_ fields: PayloadFields) throws(PayloadFault)
}

extension Payload {
  /// Reads a JSON text.
  public init(json: [UInt8]) throws(PayloadFault) {
    let value: JSONValue
    do {
      value = try JSONParser.parse(json)
    } catch {
      throw PayloadFault(path: "", detail: "\(error)")
    }
    try self.init(PayloadFields(value, path: ""))
  }

  /// Reads through any decoder, under the same rules.
  public init(from decoder: any Decoder) throws {
    try self.init(PayloadFields(try JSONValue(from: decoder), path: ""))
  }
}

/// A known field of the wrong type, or text that is no JSON object.
public struct PayloadFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// Where, such as `data.status`; empty for the whole.
  public let path: String
  /// What was expected.
  public let detail: String
  /// Both.
  public var description: String { path.isEmpty ? detail : "field \(path): \(detail)" }
}
