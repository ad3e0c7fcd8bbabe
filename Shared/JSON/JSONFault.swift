/// Why a text is not JSON.
public struct JSONFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// What was expected.
  public let detail: String
  /// Byte at which reading stopped.
  public let offset: Int
  /// Makes a fault.
  public init(detail: String, offset: Int) {
    self.detail = detail
    self.offset = offset
  }

  /// Both.
  public var description: String { "not JSON at byte \(offset): \(detail)" }
}
