import Events

/// Who has a lineage: its owner, and by the policy `share` others.
extension Lineage {
  /// Customers who may share one lineage beside its owner.
  static let mostSharers = 20

  /// The owner, if there is one, and the sharers.
  var holders: [String] { [owner].compactMap { $0 } + sharers }

  /// Whether the same customers have it as another.
  func hasSameHolders(as other: Lineage) -> Bool {
    holders.count == other.holders.count
      && zip(holders, other.holders).allSatisfy { Customer.isSame($0, $1) }
  }

  /// Adds a customer, unless the lineage has as many as it may.
  mutating func share(with customer: String) {
    guard sharers.count < Self.mostSharers, !holders.contains(same: customer) else { return }
    sharers.append(customer)
    sharers.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Puts one customer in the place of another, or takes the customer away; an owner who goes leaves
  /// a provisional one.
  mutating func replace(_ customer: String, with other: String?) {
    if let owner, Customer.isSame(owner, customer) {
      self.owner = other ?? Customer.provisional(for: id)
    }
    guard sharers.contains(same: customer) else { return }
    sharers.removeAll { Customer.isSame($0, customer) }
    if let other { share(with: other) }
  }
}
