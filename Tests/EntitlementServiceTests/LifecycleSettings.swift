import FoundationEssentials

/// What the lifecycle test takes from the environment.
enum LifecycleSettings {
  /// `PURSER_TEST_CUSTOMERS`: how many customers live in it; some hundreds in every test.
  static let customers =
    ProcessInfo.processInfo.environment["PURSER_TEST_CUSTOMERS"].flatMap { Int($0) } ?? 120
}
