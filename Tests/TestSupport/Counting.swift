import Synchronization

/// A number that several threads change.
public final class Counting: Sendable {
  private let number = Atomic<Int>(0)

  /// Makes a number, which is 0.
  public init() {}

  /// The number as it is now.
  public var value: Int { number.load(ordering: .acquiring) }

  /// Changes it.
  public func add(_ step: Int) { number.add(step, ordering: .acquiringAndReleasing) }
}
