import Processes
import Events
import Kafka

@testable import purser

/// One event of the contract, either kind.
private enum Change {
  case right(EntitlementChanged, EventType)
  case balance(BalanceChanged)
  case erased(EntitlementsErased)
  /// Grants, merges and reports: they change nothing that is folded.
  case other(version: Int64)

  var version: Int64 {
    switch self {
    case .right(let change, _): change.version
    case .balance(let change): change.version
    case .erased(let change): change.version
    case .other(let version): version
    }
  }
}

// Laws about what customers own, as another backend sees it.
extension Laws {
  /// The contract's events of each customer, the first copy of each, in the order of the log.
  private var changes: [String: [Change]] {
    var seen: Set<String> = []
    var changes: [String: [Change]] = [:]
    for event in events where event.topic == .entitlements && seen.insert(event.id).inserted {
      if let change = event.told(EntitlementChanged.self) {
        changes[event.key, default: []].append(.right(change, event.type))
      } else if let change = event.told(BalanceChanged.self) {
        changes[event.key, default: []].append(.balance(change))
      } else if let change = event.told(EntitlementsErased.self) {
        changes[event.key, default: []].append(.erased(change))
      } else if let version = event.version {
        changes[event.key, default: []].append(.other(version: version))
      }
    }
    return changes
  }

  func versions() -> [BrokenLaw] {
    let law = "a customer's versions have no gap"
    let changes = changes
    var broken = changes.compactMap { customer, changes -> BrokenLaw? in
      let versions = changes.map(\.version)
      guard versions == Array(1...Int64(versions.count)) else {
        return BrokenLaw(law: law, subject: customer, finding: "versions \(versions)")
      }
      let stored = stores.version(of: customer)
      return stored == versions.last
        ? nil
        : BrokenLaw(
          law: law, subject: customer,
          finding: "the store has version \(stored), the topic \(versions.last ?? 0)")
    }
    broken += stores.versions.filter { $0.value > 0 && changes[$0.key] == nil }.map {
      BrokenLaw(law: law, subject: $0.key, finding: "version \($0.value) stands on no topic")
    }
    return broken
  }

  /// What a subscriber folded from events is what the compacted topic says, and what is stored.
  func folds() -> [BrokenLaw] {
    let law = "the fold of a customer's events is the state topic's last record and the store"
    var last: [String: CustomerState] = [:]
    for event in events where event.topic == .entitlementState {
      guard let state = event.told(CustomerState.self) else {
        if event.record.value == nil { last[event.key] = nil }
        continue
      }
      // A repeated record may stand behind a newer one; a reader skips versions that it has.
      if state.version > last[event.key]?.version ?? 0 { last[event.key] = state }
    }
    var broken: [BrokenLaw] = []
    let all = changes
    for (customer, changes) in all {
      var fold = Fold()
      for change in changes {
        if let fault = fold.take(change) {
          broken.append(BrokenLaw(law: law, subject: customer, finding: fault))
        }
      }
      let state = last[customer]
      func amounts(_ balances: [Balance]?) -> [Balance]? { balances?.filter { $0.amount != 0 } }
      let faults = [
        ("state topic, version", fold.isErased || state?.version == changes.last?.version),
        ("state topic, erasure", fold.isErased == (state == nil)),
        ("state topic, rights", state?.entitlements ?? [] == fold.rights),
        ("state topic, balances", amounts(state?.balances) ?? [] == fold.balances),
        ("store, rights", stores.entitlements[customer, default: []] == fold.rights),
        ("store, balances", amounts(stores.balances[customer, default: []]) == fold.balances),
      ].filter { !$0.1 }
      if let fault = faults.first {
        broken.append(
          BrokenLaw(
            law: law, subject: customer,
            finding: "\(fault.0): fold \(fold), topic \(String(describing: state))"))
      }
    }
    broken += last.keys.filter { all[$0] == nil }.map {
      BrokenLaw(law: law, subject: $0, finding: "it has a state and no events")
    }
    return broken
  }
}

/// What a subscriber knows of one customer.
private struct Fold {
  private var byRight: [String: Entitlement] = [:]
  private var ended: [String: Entitlement] = [:]
  private var byUnit: [String: Balance] = [:]

  /// Whether the last event was the erasure.
  private(set) var isErased = false

  var rights: [Entitlement] {
    byRight.values.sorted { ($0.environment, $0.name) < ($1.environment, $1.name) }
  }
  var balances: [Balance] {
    byUnit.values.filter { $0.amount != 0 }.sorted {
      ($0.environment, $0.unit) < ($1.environment, $1.unit)
    }
  }

  /// Takes an event; says what does not fit what was known.
  mutating func take(_ change: Change) -> String? {
    isErased = false
    switch change {
    case .erased:
      self = Fold()
      isErased = true
      return nil
    case .other: return nil
    case .right(let change, let type):
      let right = "\(change.entitlement.environment)/\(change.entitlement.name)"
      let known = byRight[right]
      byRight[right] = change.entitlement.isActive ? change.entitlement : nil
      // What became known later of a right that ended is told as ended once more.
      let previous = change.entitlement.isActive ? known : known ?? ended[right]
      ended[right] = change.entitlement.isActive ? nil : change.entitlement
      if change.previous != previous {
        return "\(right) at version \(change.version): its previous state is another than known"
      }
      let fitting: EventType =
        !change.entitlement.isActive
        ? .entitlementDeactivated : known == nil ? .entitlementActivated : .entitlementUpdated
      return type == fitting
        ? nil : "\(right) at version \(change.version) came as \(type.rawValue)"
    case .balance(let change):
      let unit = "\(change.balance.environment)/\(change.balance.unit)"
      let known = byUnit.updateValue(change.balance, forKey: unit)
      return (known?.amount ?? 0) + change.delta == change.balance.amount
        ? nil
        : "\(unit) at version \(change.version): \(known?.amount ?? 0) and \(change.delta) "
          + "do not make \(change.balance.amount)"
    }
  }
}
