import FoundationEssentials
import JSON

/// The one JSON form of all events: sorted keys, absent fields left out, unknown fields ignored.
public enum EventJSON {
  /// Writes a value; the same value always gives the same bytes.
  ///
  /// - Throws: `EncodingError` for numbers that JSON cannot hold.
  public static func encode(_ value: some Encodable) throws -> [UInt8] {
    if let value = value as? any EventValue {
      var json = JSONWriter()
      json.object(value.write)
      return json.bytes
    }
    if let text = value as? String { return JSONWriter.value(text) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [UInt8](try encoder.encode(value))
  }

  /// Reads a value.
  ///
  /// - Throws: `EventFault` naming the field.
  public static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8])
    throws(EventFault) -> Value
  {
    do {
      if let direct = type as? any EventValue.Type {
        let value: any EventValue = try direct.init(fields: JSONFields(bytes))
        if let value = value as? Value { return value }
      }
      return try JSONDecoder().decode(type, from: Data(bytes))
    } catch let error as JSONFieldFault {
      throw EventFault(detail: error.description)
    } catch let error as DecodingError {
      throw EventFault(detail: explain(error))
    } catch {
      throw EventFault(detail: String(describing: error))
    }
  }

  /// Says in a line which field of a JSON text is wrong and how.
  private static func explain(_ error: DecodingError) -> String {
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

/// Why an event's JSON cannot be read.
public struct EventFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// Which field, and what is wrong with it.
  public let detail: String
  /// The same.
  public var description: String { detail }
}
