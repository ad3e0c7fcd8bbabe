/// A text that must not appear in logs, errors or metrics; printing it shows `<secret>`.
public struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The text itself; take it only where it is used.
  public let reveal: String

  /// Wraps a text.
  public init(_ text: String) { reveal = text }

  /// Never the text.
  public var description: String { "<secret>" }
  /// Never the text.
  public var debugDescription: String { "<secret>" }
  /// Shows nothing inside.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
