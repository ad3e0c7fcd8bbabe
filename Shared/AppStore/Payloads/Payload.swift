import JSON

/// A payload that Apple signs, read from JSON; every field may be missing.
public protocol Payload: Encodable, Sendable {
  /// Reads the fields that are present; throws for one of the wrong type.
  init(_ fields: PayloadFields) throws(PayloadFault)
}

extension Payload {
  /// Reads a JSON text.
  public init(json: [UInt8]) throws(PayloadFault) {
    let members: JSONMembers
    do {
      members = try JSONMembers(json)
    } catch {
      throw PayloadFault(path: "", detail: error.description)
    }
    try self.init(PayloadFields(members))
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
