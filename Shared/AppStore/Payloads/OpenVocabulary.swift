/// A vocabulary that Apple may extend at any time: the raw value is kept, known or not.
public protocol OpenVocabulary: RawRepresentable, Codable, Hashable, Sendable,
  CustomStringConvertible
where RawValue: PayloadScalar {
  /// Wraps a value, known or not.
  init(rawValue: RawValue)
}

extension OpenVocabulary {
  /// The raw value as text.
  public var description: String { "\(rawValue)" }
}

/// The raw types of vocabularies.
public protocol PayloadScalar: Codable, Hashable, Sendable {
  /// The value of a JSON value of the right type, otherwise nil.
  init?(json: JSONValue)
  /// What the JSON value must be, for the error.
  static var expectation: String { get }
}

extension String: PayloadScalar {
  /// The text of a JSON string.
  public init?(json: JSONValue) {
    guard case .string(let text) = json else { return nil }
    self = text
  }
  /// "text".
  public static var expectation: String { "text" }
}

extension Int32: PayloadScalar {
  /// The whole number of a JSON number in range.
  public init?(json: JSONValue) {
    guard let number = json.wholeNumber, let value = Int32(exactly: number) else { return nil }
    self = value
  }
  /// "a whole number of 32 bits".
  public static var expectation: String { "a whole number of 32 bits" }
}
