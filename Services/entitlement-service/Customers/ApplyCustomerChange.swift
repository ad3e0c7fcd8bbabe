import Events
import Kafka
import Pipeline
import SQLite
import ServiceRuntime

/// Reads `iap.customers`: merges and erasures that order-service decided take effect here.
struct ApplyCustomerChange: RecordHandler {
  private let merge: MergeCustomer
  private let erase: EraseCustomer

  init(recompute: Recompute, metrics: Metrics) {
    merge = MergeCustomer(recompute: recompute, metrics: metrics)
    erase = EraseCustomer(recompute: recompute, metrics: metrics)
  }

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    if let event = try record.decode(CustomerMerged.self, type: .customerMerged) {
      return { change in
        guard change.shard.owns(key: event.into) else {
          throw MergeAcrossShards(shard: change.shard)
        }
        try merge.apply(event, change)
      }
    }
    if let event = try record.decode(CustomerErased.self, type: .customerErased) {
      return { change in try erase.apply(event, change) }
    }
    return nil
  }
}

/// A merge of customers of two shards: order-service lets none pass, unless it counts shards differently.
struct MergeAcrossShards: Error, CustomStringConvertible {
  let shard: Shard

  var description: String {
    "this is \(shard), and the other customer is another shard's; give all services the same "
      + "PURSER_SHARD_COUNT"
  }
}
