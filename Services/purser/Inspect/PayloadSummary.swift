import Events
import Kafka
import ServiceRuntime

/// What a record says, in a few words, by its type.
enum PayloadSummary {
  static func text(_ record: ReceivedRecord) -> String {
    if let decision = LetterDecision(record) {
      return printable("letter \(decision.letter) \(decision.kind.rawValue) \(decision.because)")
    }
    let about = deadLetterReason(record)
    guard let value = record.value else { return about + "(tombstone)" }
    do {
      if let text = try known(EventType(rawValue: record.header("ce_type") ?? ""), value) {
        return printable(about + text)
      }
    } catch {
      return printable("\(about)NOT READABLE: \(error)")
    }
    let beginning = String(decoding: value.prefix(100), as: UTF8.self)
    return printable(about + beginning + (value.count > 100 ? "… (\(value.count) bytes)" : ""))
  }

  private static func deadLetterReason(_ record: ReceivedRecord) -> String {
    guard let reason = record.header("purser-reason") else { return "" }
    let origin = ["topic", "partition", "offset"].map {
      record.header("purser-origin-\($0)") ?? "?"
    }
    return "DEAD \(reason) from \(origin.joined(separator: ":"))  "
  }

  private static func known(_ type: EventType, _ value: [UInt8]) throws -> String? {
    func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try EventJSON.decode(type, from: value)
    }
    switch type {
    case .tokenIssued: return text(try read(TokenIssued.self))
    case .orderChanged: return text(try read(Order.self))
    case .proofSubmitted: return text(try read(Proof.self))
    case .appStoreFact: return text(try read(AppStoreFact.self))
    case .lineageChanged: return text(try read(LineageState.self))
    case .proofDecided: return text(try read(ProofOutcome.self))
    case .entitlementActivated, .entitlementUpdated, .entitlementDeactivated:
      return text(try read(EntitlementChanged.self))
    case .balanceChanged: return text(try read(BalanceChanged.self))
    case .customerState: return text(try read(CustomerState.self))
    default: return nil
    }
  }

  private static func text(_ event: TokenIssued) -> String {
    "token \(short(event.token)) is \(event.customer)'s"
  }

  private static func text(_ order: Order) -> String {
    var words = ["order \(short(order.id)) \(order.state.rawValue)", order.productId]
    if order.quantity > 1 { words.append("×\(order.quantity)") }
    if order.mismatched { words.append("mismatched") }
    if let rejection = order.rejection { words.append("(\(rejection))") }
    words.append("revision \(order.revision) by \(order.cause)")
    return words.joined(separator: " ")
  }

  private static func text(_ proof: Proof) -> String {
    "proof \(short(proof.id)) for order \(short(proof.orderId ?? "none")), "
      + "\(proof.content.utf8.count) bytes"
  }

  private static func text(_ fact: AppStoreFact) -> String {
    let what = [fact.notificationType, fact.subtype].compactMap(\.self).joined(separator: "/")
    return "\(fact.source.rawValue)\(what.isEmpty ? "" : " \(what)")"
      + (fact.lineage == nil ? " of no lineage" : "")
  }

  private static func text(_ state: LineageState) -> String {
    var words = ["lineage \(state.lineage.originalTransactionId) revision \(state.revision)"]
    if state.holding == .left { words.append("left") }
    if let newest = state.transactions.last {
      words.append(newest.productId)
      if newest.quantity > 1 { words.append("×\(newest.quantity)") }
      if let end = newest.expiresDate { words.append("until \(moment(end))") }
      if newest.revocationDate != nil { words.append("refunded") }
    }
    if state.renewal?.autoRenewStatus == 0 { words.append("will not renew") }
    let cause = [state.cause.kind, state.cause.notificationType, state.cause.subtype]
    words.append("by \(cause.compactMap(\.self).joined(separator: " "))")
    return words.joined(separator: " ")
  }

  private static func text(_ outcome: ProofOutcome) -> String {
    let reason = outcome.reason.map { " (\($0))" } ?? ""
    return "proof \(short(outcome.proofId)) \(outcome.outcome.rawValue)\(reason) "
      + "for order \(short(outcome.orderId ?? "none"))"
  }

  private static func text(_ event: EntitlementChanged) -> String {
    let right = event.entitlement
    var words = ["\(right.name) \(right.isActive ? "active" : "inactive")"]
    if let end = right.expiresAt { words.append("until \(moment(end))") }
    if right.isActive, let renews = right.willRenew {
      words.append(renews ? "renews" : "will not renew")
    }
    words.append("version \(event.version) by \(event.cause.kind)")
    return words.joined(separator: ", ")
  }

  private static func text(_ event: BalanceChanged) -> String {
    let sign = event.delta < 0 ? "" : "+"
    let shortfall = event.shortfall.map { ", short by \($0)" } ?? ""
    return "\(event.balance.unit) \(event.balance.amount) (\(sign)\(event.delta)\(shortfall)), "
      + "version \(event.version) by \(event.cause.kind)"
  }

  private static func text(_ state: CustomerState) -> String {
    let rights = state.entitlements.map(\.name)
    let balances = state.balances.map { "\($0.unit) \($0.amount)" }
    let all = rights + balances
    return "version \(state.version) owns \(all.isEmpty ? "nothing" : all.joined(separator: ", "))"
  }

  /// The beginning of a long id.
  static func short(_ id: String) -> String { String(id.prefix(8)) }

  /// A time to the minute, for people.
  static func moment(_ milliseconds: Int64) -> String {
    String(rfc3339(milliseconds).prefix(16)).replacing("T", with: " ")
  }
}
