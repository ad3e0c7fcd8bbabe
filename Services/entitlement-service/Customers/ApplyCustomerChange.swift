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
      return { change in try merge.apply(event, change) }
    }
    if let event = try record.decode(CustomerErased.self, type: .customerErased) {
      return { change in try erase.apply(event, change) }
    }
    return nil
  }
}
