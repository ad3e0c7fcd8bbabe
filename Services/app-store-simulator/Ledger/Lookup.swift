import AppStore
import Catalog

/// How services name purchases in requests to the App Store Server API.
extension Ledger {
  private func number(_ id: String) throws(APIRefusal) -> UInt64 {
    guard (1...20).contains(id.utf8.count), id.utf8.allSatisfy({ (48...57).contains($0) }),
      let number = UInt64(id)
    else { throw APIRefusal(.invalidTransactionId) }
    return number
  }

  /// `{any}`: the account of a transaction, or of a download.
  func apiAccount(_ id: String) throws(APIRefusal) -> String {
    let number = try number(id)
    guard let account = charges[number]?.account ?? downloads[number] else {
      throw APIRefusal(.transactionIdNotFound)
    }
    return account
  }

  /// `{tx}`: a transaction.
  func apiCharge(_ id: String) throws(APIRefusal) -> Charge {
    let number = try number(id)
    guard downloads[number] == nil else { throw APIRefusal(.appTransactionIdNotSupported) }
    guard let charge = charges[number] else { throw APIRefusal(.transactionIdNotFound) }
    return charge
  }

  /// `{orig}` of a subscription.
  func apiLineage(_ id: String) throws(APIRefusal) -> Lineage {
    let number: UInt64
    do {
      number = try self.number(id)
    } catch {
      throw APIRefusal(.invalidOriginalTransactionId)
    }
    guard let lineage = lineages[number] else {
      throw APIRefusal(.originalTransactionIdNotFound)
    }
    return lineage
  }

  /// All transactions of an account, in the order of their last change.
  func history(of account: String) -> [Charge] {
    (accounts[account]?.charges ?? []).compactMap { charges[$0] }
      .sorted { $0.change < $1.change }
  }

  /// The subscriptions of an account.
  func subscriptions(of account: String) -> [Lineage] {
    (accounts[account]?.subscriptions ?? [:]).values.compactMap { lineages[$0] }
      .sorted { $0.originalId < $1.originalId }
  }

  /// The Apple order id of a transaction, as on the customer's invoice; Production only.
  static func orderId(of id: UInt64) -> String { "M" + String(id, radix: 36, uppercase: true) }

  /// The transaction of an Apple order id.
  func charge(ofOrder orderId: String) -> Charge? {
    guard seller.environment == .production, orderId.hasPrefix("M"),
      let number = UInt64(orderId.dropFirst(), radix: 36)
    else { return nil }
    return charges[number]
  }

  /// Sets the token of a purchase, and of the renewals to come.
  mutating func setToken(_ token: String, of id: String) throws(APIRefusal) {
    let number = try number(id)
    guard downloads[number] == nil else { throw APIRefusal(.appTransactionIdNotSupported) }
    guard let named = charges[number] else { throw APIRefusal(.originalTransactionIdNotFound) }
    guard named.originalId == named.id else {
      throw APIRefusal(.transactionIdIsNotOriginalTransactionId)
    }
    guard named.ownership == .purchased else { throw APIRefusal(.familyTransactionNotSupported) }
    guard var lineage = lineages[number] else {
      var charge = named
      charge.token = token
      return record(charge)
    }
    lineage.token = token
    save(lineage)
    if var current = charges[lineage.current] {
      current.token = token
      record(current)
    }
  }

  /// Notes that a purchase was delivered.
  mutating func finish(_ id: String) throws(APIRefusal) {
    var charge = try apiCharge(id)
    guard !charge.isFinished else { return }
    charge.isFinished = true
    record(charge)
  }
}
