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
    // The ledger knows of which kind the purchase is and how it stands; these words are for proofs
    // of which it said nothing.
    let why =
      outcome.detail.map(sentence)
      ?? "The policy '\(policies.transfer.rawValue)' decides whether a proof can move it."
    return TransferAdvice(
      policy: policies.transfer.rawValue,
      text:
        "This Apple account's purchase belongs to another customer. \(why) Support can move it "
        + "(POST /v1/customers/{customer}/transfers).")
  }
}

/// Words that came from elsewhere as a sentence: they may begin small and lack their period.
func sentence(_ text: String) -> String {
  guard let first = text.first, let last = text.last else { return text }
  return first.uppercased() + text.dropFirst() + (".!?".contains(last) ? "" : ".")
}
