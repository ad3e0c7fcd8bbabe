/// How an app team wants cases decided that have more than one fair answer; per app and environment.
public struct Policies: Sendable, Equatable {
  /// What happens when a proof comes from another customer than the lineage's owner.
  public enum Transfer: String, Sendable, CaseIterable {
    /// The lineage moves to the customer of the proof.
    case transfer
    /// It moves only when it gives nothing at present.
    case transferIfInactive = "transfer-if-inactive"
    /// It stays.
    case keep
    /// Its owner stays, and every customer who proves it has it too.
    case share
  }

  /// How app receipts are proved.
  public enum Receipts: String, Sendable, CaseIterable {
    /// By their own signature.
    case local
    /// By asking Apple's `verifyReceipt`.
    case verifyReceipt
    /// By both: what the signature proves, and what Apple's answer has beyond it.
    case both

    /// Whether Apple is asked.
    public var asksApple: Bool { self != .local }
  }

  /// Whether Apple is asked if a signing certificate was revoked (OCSP).
  public enum RevocationCheck: String, Sendable, CaseIterable {
    /// It is not.
    case off
    /// It is; without an answer, work goes on as without the check.
    case soft
    /// It is; without an answer nothing is accepted, and it is asked again.
    case hard
  }

  /// When a refund takes the right away.
  public enum RefundAccess: String, Sendable, CaseIterable {
    /// With the refund.
    case immediately
    /// At the end that the period had.
    case atExpiry = "at-expiry"
    /// Never: the right runs on as if nothing had happened.
    case keep
  }

  /// What a refund takes from a balance that was already spent.
  public enum RefundBalance: String, Sendable, CaseIterable {
    /// What is there, to zero; the rest is recorded as shortfall.
    case floor
    /// All of it: the balance may go below zero.
    case debt
  }

  /// Whether purchases of the sandbox give rights and balances (marked, and apart).
  public enum Sandbox: String, Sendable, CaseIterable {
    /// They do; App Review buys in the sandbox.
    case grant
    /// They do for the customers in `sandboxCustomers`, and are recorded for all others.
    case listed
    /// They are recorded and answered, and give nothing.
    case none
  }

  /// What to tell Apple when a customer wants a refund; only with that customer's consent.
  public enum RefundPreference: String, Sendable, CaseIterable {
    /// Nothing.
    case none
    /// That it should be declined.
    case decline
    /// That it should be granted in full.
    case grant
    /// That it should be granted for the part that was not used.
    case prorate

    /// Apple's word; nil for none.
    public var appStoreWord: String? {
      switch self {
      case .none: nil
      case .decline: "DECLINE"
      case .grant: "GRANT_FULL"
      case .prorate: "GRANT_PRORATED"
      }
    }
  }

  /// Default `transfer`.
  public var transfer = Transfer.transfer
  /// Default `local`.
  public var receipts = Receipts.local
  /// Default `off`.
  public var revocationCheck = RevocationCheck.off
  /// Default `immediately`.
  public var refundAccess = RefundAccess.immediately
  /// Default `floor`.
  public var refundBalance = RefundBalance.floor
  /// Default `grant`.
  public var sandbox = Sandbox.grant
  /// Who may hold rights and balances of the sandbox under the policy `listed`; default nobody.
  public var sandboxCustomers: [String] = []
  /// Default `none`.
  public var refundPreference = RefundPreference.none
  /// Whether samples are offered before purchases, as Apple asks with a refund; default false.
  public var sampleContent = false
  /// Milliseconds after `expiresDate` in which a renewal may still arrive before the right ends.
  ///
  /// Default 60 s, in the sandbox 5 s.
  public var lateRenewal: Int64
  /// Milliseconds until an open order expires.
  ///
  /// Default 24 h.
  public var orderLifetime: Int64 = 24 * 3600 * 1000

  /// The defaults for an environment.
  public init(environment: String) {
    lateRenewal = environment == "Production" ? 60_000 : 5_000
  }

  static let keys = [
    "transfer", "receipts", "revocationCheck", "refundAccess", "refundBalance", "sandbox",
    "sandboxCustomers", "refundPreference", "sampleContent", "lateRenewal", "orderLifetime",
  ]

  /// Reads what stands in `policies`; what does not keeps its value.
  mutating func read(_ reader: ObjectReader) {
    reader.reportRepeated()
    reader.reportUnknown(except: Self.keys)
    reader.word("transfer").map { transfer = $0 }
    reader.word("receipts").map { receipts = $0 }
    reader.word("revocationCheck").map { revocationCheck = $0 }
    reader.word("refundAccess").map { refundAccess = $0 }
    reader.word("refundBalance").map { refundBalance = $0 }
    reader.word("sandbox").map { sandbox = $0 }
    if reader.has("sandboxCustomers") { sandboxCustomers = reader.texts("sandboxCustomers") }
    reader.word("refundPreference").map { refundPreference = $0 }
    reader.bool("sampleContent").map { sampleContent = $0 }
    reader.integer("lateRenewal", in: 0...86_400).map { lateRenewal = $0 * 1000 }
    reader.integer("orderLifetime", in: 60...31_536_000).map { orderLifetime = $0 * 1000 }
  }
}

extension ObjectReader {
  /// A list of texts.
  func texts(_ key: String) -> [String] {
    elements(key).compactMap { node, place in
      guard case .string(let text) = node.value else {
        faults.add(place, "is \(node.value.kind)", remedy: "write a text in quotes")
        return nil
      }
      return text
    }
  }

  /// One of a closed set of words.
  func word<Word: RawRepresentable & CaseIterable>(_ key: String) -> Word?
  where Word.RawValue == String {
    guard let text = text(key) else { return nil }
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      faults.add(place(of: key), "is \(quoted(text))", remedy: "write one of \(words)")
      return nil
    }
    return word
  }
}
