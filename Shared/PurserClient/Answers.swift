/// An order as the service tells it.
public struct PurserOrder: Codable, Sendable, Equatable {
  /// The order's id, and the `appAccountToken` to buy with.
  public var id: String
  /// Whose.
  public var customer: String
  /// What is to be bought.
  public var productId: String
  /// How many.
  public var quantity: Int
  /// `created`, `submitted`, `completed`, `rejected`, `pending`, `cancelled`, `expired` or a later
  /// word.
  public var state: String
  /// Something else was bought than was ordered; that was granted.
  public var mismatched: Bool
  /// Apple's transaction that completed it.
  public var transactionId: String?
}

/// What may be bought.
public struct PurserProduct: Codable, Sendable, Equatable, Identifiable {
  /// Apple's product id.
  public var id: String
  /// Apple's word for its kind, such as `Consumable`.
  public var type: String
  /// The price as the catalog has it; for display let StoreKit say what this customer pays.
  public var displayPrice: String?
  /// Its name in the customer's language.
  public var displayName: String?
  /// What it is, in the customer's language.
  public var description: String?
  /// The group of a subscription.
  public var subscriptionGroup: String?
  /// The rank of a subscription in its group, 1 for the highest.
  public var level: Int?
  /// How long a subscription's period is, or what a non-renewing product gives, such as `P1M`.
  public var period: String?
  /// The rights that it gives.
  public var entitlements: [String]?
  /// What it adds to balances, by unit.
  public var credits: [String: Int64]?
  /// The catalog's own words for the app.
  public var metadata: [String: String]?
}

/// A set of packages for a paywall.
public struct PurserOffering: Codable, Sendable, Equatable, Identifiable {
  /// One choice of a paywall.
  public struct Package: Codable, Sendable, Equatable, Identifiable {
    /// Its id within the offering, such as `annual`.
    public var id: String
    /// What it sells.
    public var product: PurserProduct
  }

  /// Its id in the catalog.
  public var id: String
  /// For people.
  public var description: String?
  /// The places in the app that it is for.
  public var placements: [String]
  /// The catalog's own words for the app.
  public var metadata: [String: String]
  /// What it offers, in the order of the paywall.
  public var packages: [Package]
}

/// The offerings that this version of the app may show.
public struct PurserOfferings: Codable, Sendable, Equatable {
  /// The id of the one to show at the placement that was asked for.
  public var current: String?
  /// All of them.
  public var offerings: [PurserOffering]

  /// The one to show; nil when the catalog has none for this place.
  public var offering: PurserOffering? { offerings.first { $0.id == current } }
}

/// A right of the customer.
public struct PurserEntitlement: Codable, Sendable, Equatable {
  /// Its name, such as `pro`.
  public var name: String
  /// `Production`, `Sandbox` or `Xcode`.
  public var environment: String
  /// Whether the customer had it when the server was asked.
  public var isActive: Bool
  /// What gives it.
  public var productId: String?
  /// When it ends unless it is renewed, UTC milliseconds; nil for one without end.
  public var expiresAt: Int64?
  /// Whether Apple will try to renew it.
  public var willRenew: Bool?
  /// Until when Apple's grace period keeps it, UTC milliseconds.
  public var gracePeriodExpiresAt: Int64?
}

/// What a customer owns, and how fresh that is.
public struct PurserEntitlements: Codable, Sendable, Equatable {
  /// Whose.
  public var customer: String
  /// Grows with every change.
  public var version: Int64
  /// The rights, active or not.
  public var entitlements: [PurserEntitlement]
  /// When the server said so, UTC milliseconds; nil for a copy that is shown without a network.
  public var askedAt: Int64?

  /// How long a copy is believed past a right's end: the renewal may stand where we cannot look.
  public static let leniency: Int64 = 24 * 3600 * 1000

  /// Whether the customer has a right at a time, by this copy.
  ///
  /// A copy from the server is right as it is. An old one is believed until a right's own end, and a
  /// day longer where it will renew: without a network nobody could tell.
  public func has(_ name: String, at now: Int64) -> Bool {
    entitlements.contains { right in
      guard right.name == name, right.isActive else { return false }
      guard let end = right.gracePeriodExpiresAt ?? right.expiresAt else { return true }
      return now < end + (right.willRenew == true ? Self.leniency : 0)
    }
  }
}

/// What came of a purchase.
public enum BuyResult: Sendable, Equatable {
  /// Paid, proved and recorded; the transaction is finished.
  case completed(PurserOrder)
  /// Paid, and the server has the proof, or will have it: the transaction stays unfinished until then
  /// and is settled by itself.
  case submitted(PurserOrder)
  /// Waits for somebody; it may come while the app runs, or at its next start.
  case pending(PurserOrder)
  /// The customer gave up.
  case cancelled(PurserOrder)
}

/// What came of one transaction that was brought to the server.
public enum Settlement: Sendable, Equatable {
  /// Recorded as the customer's, now or before; finished.
  case recorded
  /// Recorded for another customer of the same Apple account; finished.
  case belongsToAnother(PurserError.Refusal)
  /// Not decided, or the server could not be reached; left unfinished, to be tried again.
  case later
  /// Refused for good; left unfinished, so that nothing that was paid is lost.
  case refused(PurserError.Refusal)
}

/// What came of a restore.
public struct RestoreResult: Codable, Sendable, Equatable {
  /// One proof of those that were sent.
  public struct Item: Codable, Sendable, Equatable {
    /// Where it stood among all of them, such as `signedTransactions[3]`.
    public var place: String
    /// `accepted`, `already-recorded`, `belongs-to-another` or `rejected`; nil while undecided.
    public var outcome: String?
    /// Whether its transaction may be finished.
    public var finish: Bool
    /// Apple's transaction.
    public var transactionId: String?
    /// What was bought.
    public var productId: String?
    /// Why it was refused, as a stable word.
    public var reason: String?
    /// The same for people.
    public var detail: String?
  }

  /// The ids under which it can be read again: one for each part that was sent.
  public var ids: [String]
  /// Whether every proof is decided.
  public var decided: Bool
  /// What came of each.
  public var items: [Item]
}
