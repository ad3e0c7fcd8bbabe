import Catalog
import Events

/// Why a purchase stays with another customer: the app's transfer policy, in words for a person.
struct TransferAdvice: Sendable, Equatable {
  /// The policy's word.
  let policy: String
  let text: String

  /// Explains an outcome `belongs-to-another`.
  static func text(for outcome: ProofOutcome, _ apps: Apps) -> TransferAdvice {
    let lineage = outcome.lineage.flatMap { LineageID($0) }
    let policies = apps.policies(lineage?.bundleId ?? "", lineage?.environment ?? "Production")
    let why =
      switch policies.transfer {
      case .keep:
        "The policy 'keep' leaves a purchase with the customer who proved it first."
      case .transferIfInactive:
        "The policy 'transfer-if-inactive' moves a purchase only when it gives its owner nothing at "
          + "present, and only what is no consumable."
      default:
        "The policy '\(policies.transfer.rawValue)' moves a purchase to whoever proves it with a copy "
          + "that Apple signed after its last move; a consumable or non-renewing purchase that was "
          + "credited never moves. Let StoreKit give a fresh copy (AppStore.sync()) and post that."
      }
    let detail = outcome.detail.map { "\($0) " } ?? ""
    return TransferAdvice(
      policy: policies.transfer.rawValue,
      text:
        "This Apple account's purchase belongs to another customer. \(detail)\(why) Support can "
        + "move it (POST /v1/customers/{customer}/transfers).")
  }
}
