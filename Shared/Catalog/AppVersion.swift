/// A version of an app, as `CFBundleShortVersionString` has it: numbers with dots between them.
///
/// Compared number by number; what is missing counts as 0, so `2.0` is `2`.
public struct AppVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
  private let numbers: [Int]
  /// The text as it was written.
  public let description: String

  /// Reads one to six numbers of at most nine digits; nil for all else.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...6).contains(parts.count) else { return nil }
    var numbers: [Int] = []
    for part in parts {
      guard (1...9).contains(part.count), part.allSatisfy({ (48...57).contains($0) }) else {
        return nil
      }
      numbers.append(part.reduce(0) { $0 * 10 + Int($1 - 48) })
    }
    while numbers.count > 1, numbers.last == 0 { numbers.removeLast() }
    self.numbers = numbers
    description = text
  }

  /// Whether both are the same version.
  public static func == (one: AppVersion, other: AppVersion) -> Bool {
    one.numbers == other.numbers
  }

  /// Hashes what is compared.
  public func hash(into hasher: inout Hasher) { hasher.combine(numbers) }

  /// Orders by age.
  public static func < (one: AppVersion, other: AppVersion) -> Bool {
    one.numbers.lexicographicallyPrecedes(other.numbers)
  }
}

/// Which versions of an app something is for, both ends included.
public struct AppVersions: Sendable, Equatable {
  /// The oldest; nil for no bound.
  public let from: AppVersion?
  /// The newest; nil for no bound.
  public let to: AppVersion?

  /// Every version.
  public static let all = AppVersions(from: nil, to: nil)

  /// Whether a version is among them; of an unknown one only if every version is.
  public func contains(_ version: AppVersion?) -> Bool {
    guard let version else { return from == nil && to == nil }
    return from.map { $0 <= version } ?? true && to.map { version <= $0 } ?? true
  }
}
