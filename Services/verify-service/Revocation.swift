import AppStore
import Catalog
import Cryptography
import ServiceRuntime

/// Whether certificates that verified may be used, by the policy `revocationCheck`.
///
/// "Could not ask" is never "revoked": with `soft` work goes on, with `hard` it is tried again.
struct RevocationCheck: Sendable {
  /// The answer.
  enum Verdict: Sendable, Equatable {
    case passed
    /// Final.
    case refused(reason: String, detail: String)
    /// Nothing is known yet; try again.
    case unknown(String)
  }

  private let checker: RevocationChecker
  private let clock: @Sendable () -> Int64
  private let unavailable: Counter
  private let revoked: Counter

  init(_ checker: RevocationChecker, metrics: Metrics, clock: @escaping @Sendable () -> Int64) {
    self.checker = checker
    self.clock = clock
    unavailable = metrics.counter(
      "revocation_unavailable_total", "Signatures whose issuers could not be asked (OCSP).")
    revoked = metrics.counter(
      "revocation_revoked_total", "Signatures with a certificate that was revoked.")
    metrics.reading("revocation_known", "Chains whose answer is remembered.") {
      checker.count
    }
  }

  /// By what is remembered, without asking anyone.
  func known(_ chain: [Certificate], _ policy: Policies.RevocationCheck) -> Verdict {
    if let verdict = beforeAsking(chain, policy) { return verdict }
    guard let state = checker.known(chain) else { return .unknown("not asked yet") }
    return verdict(state, policy)
  }

  /// By what is remembered or, at need, by asking; within some seconds.
  func ask(_ chain: [Certificate], _ policy: Policies.RevocationCheck) async -> Verdict {
    if let verdict = beforeAsking(chain, policy) { return verdict }
    return verdict(await checker.check(chain), policy)
  }

  private func beforeAsking(_ chain: [Certificate], _ policy: Policies.RevocationCheck) -> Verdict?
  {
    // Xcode's single certificate has no issuer.
    guard policy != .off, chain.count == 3 else { return .passed }
    let end = chain.map(\.notAfter).min() ?? 0
    guard end < clock() else { return nil }
    // No responder speaks of certificates that have run out.
    guard policy == .hard else { return .passed }
    return .refused(
      reason: "certificate-expired",
      detail: "a certificate ran out at \(end), so it cannot be asked whether it was revoked; "
        + "post a copy that Apple signed anew")
  }

  private func verdict(_ state: RevocationState, _ policy: Policies.RevocationCheck) -> Verdict {
    switch state {
    case .good: return .passed
    case .revoked(let date):
      revoked.add()
      return .refused(
        reason: "certificate-revoked", detail: "a certificate of the chain was revoked at \(date)")
    case .unavailable(let why):
      unavailable.add()
      return policy == .soft ? .passed : .unknown(why)
    }
  }
}
