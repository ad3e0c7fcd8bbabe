import Events

/// What is known of one thing of a lineage, in copies that Apple signed singly and in others.
///
/// The newest copy counts. But a receipt leaves much out, such as token and price: over an older
/// signed copy only what receipts do say counts. Both copies are kept, so that the result does not
/// depend on the order of arrival.
struct Copies<Value: Copied>: Codable, Sendable, Equatable {
  /// The newest that Apple signed singly.
  private(set) var signed: Value?
  /// The newest of a receipt, where it is newer.
  private(set) var unsigned: Value?

  init(_ value: Value) { _ = take(value) }

  /// What counts.
  var effective: Value? {
    guard let signed else { return unsigned }
    return unsigned.map { signed.updated(by: $0) } ?? signed
  }

  /// Whether one copy lies hidden behind another.
  var isBoth: Bool { signed != nil && unsigned != nil }

  /// Takes a copy in unless a newer one of its kind is known; answers whether anything changed.
  mutating func take(_ value: Value) -> Bool {
    if value.evidence == nil {
      guard signed.map(value.isNewer) ?? true else { return false }
      signed = value
      if let known = unsigned, known.signedDate <= value.signedDate { unsigned = nil }
      return true
    }
    guard unsigned.map(value.isNewer) ?? true, (signed?.signedDate ?? .min) < value.signedDate
    else { return false }
    unsigned = value
    return true
  }
}

/// Something of which Apple signs one copy after the other.
protocol Copied: Codable, Sendable, Equatable {
  /// When Apple signed the copy.
  var signedDate: Int64 { get }
  /// Decides between two of one date.
  var hash: String { get }
  /// How it is proved when it is not signed singly.
  var evidence: String? { get }

  /// This copy with what a newer one says that is not signed singly.
  func updated(by newer: Self) -> Self
}

extension Copied {
  func isNewer(than other: Self) -> Bool { (signedDate, hash) > (other.signedDate, other.hash) }
}

extension LineageTransaction: Copied {
  func updated(by newer: LineageTransaction) -> LineageTransaction {
    var updated = self
    updated.signedDate = newer.signedDate
    updated.hash = newer.hash
    updated.evidence = newer.evidence
    updated.expiresDate = newer.expiresDate
    updated.revocationDate = newer.revocationDate
    if newer.revocationDate == nil {
      updated.revocationReason = nil
      updated.revocationType = nil
      updated.revocationPercentage = nil
    }
    return updated
  }
}

extension LineageRenewal: Copied {
  func updated(by newer: LineageRenewal) -> LineageRenewal {
    var updated = self
    updated.signedDate = newer.signedDate
    updated.hash = newer.hash
    updated.evidence = newer.evidence
    updated.autoRenewProductId = newer.autoRenewProductId
    updated.autoRenewStatus = newer.autoRenewStatus
    updated.expirationIntent = newer.expirationIntent
    updated.isInBillingRetryPeriod = newer.isInBillingRetryPeriod
    updated.gracePeriodExpiresDate = newer.gracePeriodExpiresDate
    updated.priceIncreaseStatus = newer.priceIncreaseStatus
    return updated
  }
}
