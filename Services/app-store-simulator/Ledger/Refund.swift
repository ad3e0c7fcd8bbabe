import AppStore

extension Ledger {
  /// Refunds a transaction of any kind, in full or in part.
  ///
  /// - Parameter percentage: Thousandths of a percent, 1 to 100,000.
  mutating func refund(
    _ id: String, reason: Int32 = 0, percentage: Int32 = 100_000, at now: Int64
  ) throws(Refusal) -> Happening {
    var charge = try charge(id)
    guard (0...1).contains(reason), (1...100_000).contains(percentage) else {
      throw Refusal(
        .invalidRefund,
        "The reason is 0 (other) or 1 (issue within the app), the percentage 1 to 100000 "
          + "thousandths of a percent.")
    }
    guard charge.revocation == nil else {
      throw Refusal(
        .alreadyRefunded,
        "Transaction \(id) was refunded already. POST /control/transactions/\(id)/reverse-refund "
          + "undoes it.")
    }
    charge.revocation = Revocation(
      date: now, reason: RevocationReason(rawValue: reason),
      type: percentage == 100_000 ? .refundFull : .refundProrated, percentage: percentage)
    record(charge)
    if var lineage = lineages[charge.originalId], lineage.current == charge.id {
      lineage.autoRenews = false
      lineage.standing = .revoked
      save(lineage)
    }
    return happening(.refund, of: charge, at: now)
  }

  /// Undoes a refund; a subscription stands again as its dates say, without auto-renew.
  mutating func reverseRefund(_ id: String, at now: Int64) throws(Refusal) -> Happening {
    var charge = try charge(id)
    guard charge.revocation != nil else {
      throw Refusal(.notRefunded, "Transaction \(id) was not refunded, so nothing can be undone.")
    }
    charge.revocation = nil
    record(charge)
    if var lineage = lineages[charge.originalId], lineage.current == charge.id {
      let hasTime = charge.expiresDate.map { $0 > now } ?? false
      lineage.standing = hasTime ? .active : .expired(.customerCancelled)
      save(lineage)
    }
    return happening(.refundReversed, of: charge, at: now)
  }

  /// Apple refuses a refund that the customer asked for: nothing changes.
  func declineRefund(_ id: String, at now: Int64) throws(Refusal) -> Happening {
    happening(.refundDeclined, of: try charge(id), at: now)
  }
}
