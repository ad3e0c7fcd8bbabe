internal import FoundationEssentials

extension JWSSigner {
  /// The compact JWS of a payload; throws what the encoder or `sign(_:)` throws.
  public func sign(_ payload: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try sign([UInt8](encoder.encode(payload)))
  }
}
