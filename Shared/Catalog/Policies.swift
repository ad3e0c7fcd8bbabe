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
    /// They are recorded and answered, and give nothing.
    case none
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
    "lateRenewal", "orderLifetime",
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
    reader.integer("lateRenewal", in: 0...86_400).map { lateRenewal = $0 * 1000 }
    reader.integer("orderLifetime", in: 60...31_536_000).map { orderLifetime = $0 * 1000 }
  }
}

extension ObjectReader {
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
