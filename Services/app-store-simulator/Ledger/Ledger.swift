import AppStore
import Catalog
import Cryptography

/// The books of the simulated App Store: a command and a time give transactions and happenings.
///
/// A value without input or output. Before each command, `fire(upTo:)` must have been called for
/// the same time.
struct Ledger: Sendable {
  /// Whose sales these are.
  struct Seller: Sendable, Equatable {
    let bundleId: String
    let environment: AppEnvironment
    /// The storefront of purchases that name none.
    let storefront: Storefront
  }

  /// What is known of a customer of the store.
  struct Account: Sendable, Equatable {
    /// Groups in which an introductory offer was used.
    var introducedGroups: Set<String> = []
    /// Original transaction by group.
    var subscriptions: [String: UInt64] = [:]
    /// Transaction by product, refunded ones too.
    var nonConsumables: [String: UInt64] = [:]
    /// All its transactions, oldest first.
    var charges: [UInt64] = []
  }

  let catalog: Catalog
  let seller: Seller
  /// How many transactions are kept at most.
  let limit: Int
  private(set) var charges: [UInt64: Charge] = [:]
  var lineages: [UInt64: Lineage] = [:]
  var accounts: [String: Account] = [:]
  /// Account by the number of its download.
  private(set) var downloads: [UInt64: String] = [:]
  /// Mass extensions by product and request identifier.
  var massExtensions: [String: MassExtension] = [:]
  /// What services sent about a transaction, newest last.
  var consumption: [UInt64: [ConsumptionReport]] = [:]
  var due = DueQueue()
  private var changes: UInt64 = 0
  private var nextId: UInt64

  /// Apple charges a little before the end; so long before, at most a tenth of the period.
  static let renewalLead: Int64 = 60_000

  /// Empty books.
  ///
  /// - Parameter firstId: Number of the first transaction; must grow from one start to the next.
  init(catalog: Catalog, seller: Seller, firstId: UInt64, limit: Int = 1_000_000) {
    self.catalog = catalog
    self.seller = seller
    self.limit = limit
    nextId = firstId
  }

  mutating func takeId() -> UInt64 {
    defer { nextId += 1 }
    return nextId
  }

  /// Writes a transaction, new or changed, as the newest change of the books.
  mutating func record(_ charge: Charge) {
    changes += 1
    if charges[charge.id] == nil {
      if accounts[charge.account]?.charges.isEmpty ?? true {
        downloads[downloadNumber(charge.account)] = charge.account
      }
      accounts[charge.account, default: Account()].charges.append(charge.id)
    }
    var changed = charge
    changed.change = changes
    charges[charge.id] = changed
  }

  func checkRoom() throws(Refusal) {
    guard charges.count < limit else {
      throw Refusal(
        .ledgerFull,
        "The simulator keeps at most \(limit) transactions (SIMULATOR_TRANSACTION_LIMIT). "
          + "Start it again to begin with empty books.")
    }
  }

  func product(_ id: String) throws(Refusal) -> Product {
    guard let product = catalog.product(id) else {
      throw Refusal(
        .unknownProduct,
        "The catalog has no product '\(id)'. GET /control/products lists those it has.")
    }
    return product
  }

  /// The transaction with this number in decimal digits.
  func charge(_ id: String) throws(Refusal) -> Charge {
    guard let number = UInt64(id), let charge = charges[number] else {
      throw Refusal(
        .unknownTransaction,
        "There is no transaction '\(id)'. The simulator forgets all when it stops.")
    }
    return charge
  }

  /// The subscription whose original transaction has this number.
  func lineage(_ id: String) throws(Refusal) -> Lineage {
    guard let number = UInt64(id), let lineage = lineages[number] else {
      throw Refusal(
        .unknownSubscription,
        "There is no subscription with originalTransactionId '\(id)'. Give the original "
          + "transaction of an auto-renewable purchase.")
    }
    return lineage
  }

  /// The download of an account: the same after each start of the simulator.
  func appTransactionId(_ account: String) -> String { String(downloadNumber(account)) }

  private func downloadNumber(_ account: String) -> UInt64 {
    let hash = SHA256.hash("\(seller.bundleId)\n\(account)")
    let number = hash.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return 700_000_000_000_000_000 + number % 100_000_000_000_000_000
  }
}
