import Cryptography
import Events
import Kafka

@testable import purser

// Laws that each record, order, lineage and proof must keep.
extension Laws {
  private static let types: [Topic: Set<EventType>] = [
    .customers: [.tokenIssued, .customerMerged, .lineageTransferred, .customerErased],
    .orders: [.orderChanged], .proofs: [.proofSubmitted],
    .appstore: [.appStoreFact], .transactions: [.lineageChanged, .proofDecided],
    .entitlements: [
      .entitlementActivated, .entitlementUpdated, .entitlementDeactivated, .balanceChanged,
      .grantCreated, .grantRemoved, .entitlementsMerged, .entitlementsErased, .consumptionReported,
    ],
    .entitlementState: [.customerState],
  ]

  /// CloudEvents 1.0 in binary mode, and the partition that Kafka's own clients would choose.
  func headers() -> [BrokenLaw] {
    events.filter { $0.topic != .deadLetters }.compactMap { event in
      let record = event.record
      let wanted = [
        ("ce_specversion is 1.0", record.header("ce_specversion") == "1.0"),
        ("ce_id is a UUID", UUIDs.normalized(event.id) == event.id),
        ("ce_type is one of the topic's", Self.types[event.topic]?.contains(event.type) == true),
        ("ce_source is a service", record.header("ce_source")?.hasPrefix("/purser/") == true),
        ("ce_time is RFC 3339 in UTC", record.header("ce_time")?.hasSuffix("Z") == true),
        ("ce_subject is there", record.header("ce_subject")?.isEmpty == false),
        ("content-type is JSON", record.header("content-type") == "application/json"),
        (
          "it is in the partition of its key",
          record.partition
            == Partitioner.partition(
              forKey: record.key ?? [], partitions: TopicNames.defaultPartitions)
        ),
      ]
      guard let broken = wanted.first(where: { !$0.1 }) else { return nil }
      return BrokenLaw(
        law: "every event says what it is", subject: event.key,
        finding: "not so: \(broken.0): \(record.headers.map { "\($0.name)=\($0.text)" })")
    }
  }

  /// An event that was written again is the same event.
  func repeats() -> [BrokenLaw] {
    var first: [String: ReadEvent] = [:]
    return events.compactMap { event in
      guard event.topic != .deadLetters else { return nil }
      let id = "\(event.topic.rawValue)/\(event.id)"
      guard let known = first[id] else {
        first[id] = event
        return nil
      }
      let isSame =
        known.record.key == event.record.key
        && (known.record.value == event.record.value
          // What Apple sends again is received again, at another time.
          || event.topic == .appstore
            && known.told(AppStoreFact.self)?.signed == event.told(AppStoreFact.self)?.signed)
      return isSame
        ? nil
        : BrokenLaw(
          law: "an event that is written again is the same", subject: event.key,
          finding: "\(id) stands at \(known.record.topicPartition)@\(known.record.offset) and, "
            + "different, at \(event.record.topicPartition)@\(event.record.offset)")
    }
  }

  func orderRevisions() -> [BrokenLaw] {
    let law = "an order's revisions have no gap, and its last is what the store holds"
    let byOrder = Dictionary(grouping: once(Order.self), by: \.id)
    var broken = byOrder.compactMap { id, moves -> BrokenLaw? in
      let revisions = moves.map(\.revision)
      guard revisions == Array(1...Int64(moves.count)) else {
        return BrokenLaw(law: law, subject: id, finding: "revisions \(revisions)")
      }
      guard moves.last == stores.orders[id] else {
        return BrokenLaw(
          law: law, subject: id,
          finding: "last event \(String(describing: moves.last)), store "
            + "\(String(describing: stores.orders[id]))")
      }
      return nil
    }
    broken += stores.orders.keys.filter { byOrder[$0] == nil }.map {
      BrokenLaw(law: law, subject: $0, finding: "it stands in the store and on no topic")
    }
    return broken
  }

  func lineageRevisions() -> [BrokenLaw] {
    let law = "a lineage's revisions have no gap and one holder each; the store has the last"
    let byLineage = Dictionary(grouping: once(LineageState.self), by: \.lineage.description)
    var broken = byLineage.compactMap { id, states -> BrokenLaw? in
      let held = states.filter { $0.holding == .held }.sorted { $0.revision < $1.revision }
      guard held.map(\.revision) == Array(1...Int64(max(1, held.count))) else {
        return BrokenLaw(law: law, subject: id, finding: "held at \(held.map(\.revision))")
      }
      guard held.last == stores.lineages[id] else {
        return BrokenLaw(law: law, subject: id, finding: "the last event is not what is stored")
      }
      // Whoever had it before must have been told that it left, at that very revision.
      for (before, after) in zip(held, held.dropFirst()) where before.customer != after.customer {
        let isTold = states.contains {
          $0.holding == .left && $0.customer == before.customer && $0.revision == after.revision
        }
        if !isTold {
          return BrokenLaw(
            law: law, subject: id,
            finding: "\(before.customer) was not told that it left at \(after.revision)")
        }
      }
      return nil
    }
    broken += stores.lineages.keys.filter { byLineage[$0] == nil }.map {
      BrokenLaw(law: law, subject: $0, finding: "it stands in the store and on no topic")
    }
    return broken
  }

  func proofs() -> [BrokenLaw] {
    let law = "every proof has one outcome, and every order that has a good one is completed"
    let outcomes = Dictionary(grouping: once(ProofOutcome.self), by: \.proofId)
    let good: Set<Outcome> = [.accepted, .alreadyRecorded]
    return once(Proof.self).compactMap { proof in
      let found = outcomes[proof.id] ?? []
      // A receipt has an outcome for each of its parts.
      let count = found.first?.part?.count
      let isWhole =
        count.map { count in
          Set(found.compactMap(\.part?.index)) == Set(1...count) && found.count == Int(count)
        } ?? (found.count == 1)
      guard isWhole else {
        return BrokenLaw(
          law: law, subject: proof.id, finding: "outcomes \(found.map(\.outcome.rawValue))")
      }
      guard found.allSatisfy({ $0.customer == proof.customer && $0.orderId == proof.orderId })
      else {
        return BrokenLaw(law: law, subject: proof.id, finding: "the outcome is another's")
      }
      guard let orderId = proof.orderId else { return nil }
      let order = stores.orders[orderId]
      // Of what a receipt lists beside the order's product nothing follows for the order.
      let isGood = found.contains {
        good.contains($0.outcome) && ($0.part == nil || $0.productId == order?.productId)
      }
      guard !isGood || order?.state == .completed else {
        return BrokenLaw(
          law: law, subject: orderId,
          finding: "a good outcome, and the order is \(order?.state.rawValue ?? "gone")")
      }
      return nil
    }
  }

  /// A backend that delivers on orders delivers a purchase once.
  func deliveries() -> [BrokenLaw] {
    let right = stores.orders.values.filter { $0.state == .completed && !$0.mismatched }
    return Dictionary(grouping: right) { $0.transactionId ?? $0.id }.filter { $0.value.count > 1 }
      .map { id, orders in
        BrokenLaw(
          law: "a purchase is what at most one order asked for", subject: id,
          finding: "orders \(orders.map(\.id).sorted()) are completed by it")
      }
  }

  /// Nothing is decided on what does not stand on a topic: tokens, proofs and facts are there.
  func origins() -> [BrokenLaw] {
    let law = "what was decided hangs on what stands on the topics"
    let tokens = Set(once(TokenIssued.self).map(\.token))
    let proofs = Set(once(Proof.self).map(\.id))
    let facts = Set(once(AppStoreFact.self).map(\.hash))
    let orders = stores.orders.keys.filter { !tokens.contains($0) }.map {
      BrokenLaw(law: law, subject: $0, finding: "the order's token stands on no topic")
    }
    let outcomes = once(ProofOutcome.self).filter { !proofs.contains($0.proofId) }.map {
      BrokenLaw(law: law, subject: $0.proofId, finding: "it has an outcome and is on no topic")
    }
    let states = once(LineageState.self).filter { state in
      state.cause.fact.map { !facts.contains($0) } ?? false
    }.map {
      BrokenLaw(
        law: law, subject: $0.lineage.description,
        finding: "the fact behind revision \($0.revision) is on no topic")
    }
    return orders + outcomes + states
  }
}
