/// A vocabulary that Apple may extend at any time: the raw value is kept, known or not.
public protocol OpenVocabulary: RawRepresentable, Codable, Hashable, Sendable,
  CustomStringConvertible
{
  /// Wraps a value, known or not.
  init(rawValue: RawValue)
}

extension OpenVocabulary {
  /// The raw value as text.
  public var description: String { "\(rawValue)" }
}
