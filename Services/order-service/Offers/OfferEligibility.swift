/// Which offers of one subscription group a customer may have; pure.
///
/// Apple's rules (App Store Connect, "Subscription offers"): an introductory offer once for each
/// group and not beside a running subscription; a promotional offer for whoever has or had a
/// subscription of the group; a win-back offer for whoever had one, as Apple itself says.
struct OfferEligibility: Sendable, Equatable {
  let groupId: String
  let introductory: Bool
  let promotional: Bool
  /// The ids that Apple named, the best first.
  let winBack: [String]

  /// - Parameters:
  ///   - seen: What the customer has had, of all groups.
  ///   - now: UTC milliseconds.
  init(group: String, seen: [SubscriptionHistory.Seen], now: Int64) {
    let own = seen.filter { $0.groupId == group }
    let isActive = own.contains { $0.endsAt > now }
    groupId = group
    introductory = !isActive && !own.contains(where: \.hadIntroductory)
    promotional = !own.isEmpty
    winBack = isActive ? [] : own.first?.winBack ?? []
  }
}
