import Catalog
import Cryptography
import Synchronization

/// The rules of the moment: a new catalog or policy replaces them while the service runs.
final class LiveRules: Sendable {
  private let state: Mutex<(rules: Rules, hash: String)>

  init(_ rules: Rules) { state = Mutex((rules, rules.hash)) }

  var current: Rules { state.withLock { $0.rules } }

  /// Names everything in them on which rights or balances hang.
  var hash: String { state.withLock { $0.hash } }

  func replace(with rules: Rules) {
    let hash = rules.hash
    state.withLock { $0 = (rules, hash) }
  }
}

extension Rules {
  /// SHA-256 of what the rules say, lower-case hex; prices and texts for people do not count.
  var hash: String {
    var lines: [String] = []
    for app in apps.all.sorted(by: { $0.bundleId < $1.bundleId }) {
      for (environment, policies) in app.environments.sorted(by: { $0.key < $1.key }) {
        lines.append(
          [
            app.bundleId, environment, policies.refundAccess.rawValue,
            policies.sandbox.rawValue,
            policies.sandboxCustomers.sorted().joined(separator: "\u{0}"),
            "\(policies.lateRenewal)",
          ].joined(separator: "\u{1}"))
      }
      for product in (catalogs[app.bundleId]?.products.values.map { $0 } ?? [])
        .sorted(by: { $0.id < $1.id })
      {
        lines.append(
          [
            app.bundleId, product.id, product.kind.rawValue, product.length?.description ?? "",
            "\(product.rights)", "\(product.credits)",
          ].joined(separator: "\u{1}"))
      }
    }
    return SHA256.hex(lines.joined(separator: "\n"))
  }
}
