import Events

/// What a change brings to a customer besides rights; each becomes an event.
enum News: Sendable {
  /// An entry of the ledger.
  case entry(BookedEntry)
  /// A whole balance that moved with a merge.
  case moved(Balance, delta: Int64)
  /// A grant that was given or, with `removedAt`, taken back.
  case grant(Grant)
  /// What is known of a purchase whose refund was asked for.
  case consumption(ConsumptionReported)
  /// The customer ends in another.
  case merged(into: String)
  /// The customer is erased.
  case erased

  /// The order in which the events of one change are told: what begins first, ends last.
  var rank: Int {
    switch self {
    case .grant: 0
    case .entry, .moved: 1
    case .consumption: 2
    case .merged, .erased: 3
    }
  }
}
