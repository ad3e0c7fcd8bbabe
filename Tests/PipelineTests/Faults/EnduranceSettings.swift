import Processes
import FoundationEssentials

/// What the fault tests take from the environment; `make endurance` sets it.
struct EnduranceSettings: Sendable {
  /// `PURSER_TEST_ENDURANCE_MINUTES`: how long runs follow each other; nil for the short run of
  /// every test.
  let minutes: Int?
  /// `PURSER_TEST_SEED`: the seed of the first run; nil lets chance choose.
  let seed: UInt64?

  /// Minutes after which a test has hung.
  var limit: Int { (minutes ?? 0) + 15 }

  static let current = EnduranceSettings(ProcessInfo.processInfo.environment)

  init(_ environment: [String: String]) {
    minutes = environment["PURSER_TEST_ENDURANCE_MINUTES"].flatMap { Int($0) }
    seed = environment["PURSER_TEST_SEED"].flatMap { UInt64($0) }
  }
}
