import FoundationEssentials

/// The one JSON form of all events: sorted keys, absent fields left out, unknown fields ignored.
public enum EventJSON {
  /// Writes a value; the same value always gives the same bytes.
  ///
  /// - Throws: `EncodingError` for numbers that JSON cannot hold.
  public static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [UInt8](try encoder.encode(value))
  }

  /// Reads a value.
  ///
  /// - Throws: `DecodingError` naming the field.
  public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws
    -> Value
  {
    try JSONDecoder().decode(type, from: Data(bytes))
  }

  /// Says in a line which field of a JSON text is wrong and how.
  public static func explain(_ error: DecodingError) -> String {
    func place(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
      let keys = context.codingPath + (last.map { [$0] } ?? [])
      guard !keys.isEmpty else { return "the document" }
      return keys.map { $0.intValue.map { "[\($0)]" } ?? $0.stringValue }.joined(separator: ".")
    }
    return switch error {
    case .keyNotFound(let key, let context): "\(place(context, key)) is missing"
    case .typeMismatch(let type, let context): "\(place(context)) is not of type \(type)"
    case .valueNotFound(let type, let context): "\(place(context)) is null; \(type) is needed"
    case .dataCorrupted(let context): "\(place(context)) is not valid: \(context.debugDescription)"
    @unknown default: "the document does not fit"
    }
  }
}
