import FoundationEssentials

/// What the lifecycle test takes from the environment; `make lifecycle` sets it.
struct LifeSettings: Sendable {
  /// `PURSER_TEST_CUSTOMERS`: how many customers live; some hundreds in every test.
  let customers: Int
  /// `PURSER_TEST_SEED`: the seed; nil lets chance choose.
  let seed: UInt64?

  /// Minutes after which a test has hung.
  var limit: Int { 10 + customers / 100 }

  static let current = LifeSettings(ProcessInfo.processInfo.environment)

  init(_ environment: [String: String]) {
    customers = environment["PURSER_TEST_CUSTOMERS"].flatMap { Int($0) } ?? 150
    seed = environment["PURSER_TEST_SEED"].flatMap { UInt64($0) }
  }
}
