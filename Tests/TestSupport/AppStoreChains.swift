public import AppStore
import Cryptography

/// Chains and signers for tests; all of them are made once per process, since keys cost time.
public enum AppStoreChains {
  /// 2023-11-14T22:13:20Z, UNIX milliseconds: the time of tests.
  public static let now: Int64 = 1_700_000_000_000
  /// One day in milliseconds.
  public static let day: Int64 = 86_400_000

  /// A good chain, valid for ten years on both sides of `now`.
  public static func chain() throws -> SigningChain { try shared.get() }

  /// The plan of a good chain, to be spoiled.
  public static func plan(name: String = "Purser Tests") -> SigningChainPlan {
    SigningChainPlan(name: name, notBefore: now - 3650 * day, notAfter: now + 3650 * day)
  }

  private static let shared = Result { try plan().make() }
}
