import Events
import Kafka
import Pipeline

/// Reads `iap.customers`: whose tokens are, who became whom, what support moved, who is erased.
struct KnowCustomers: RecordHandler {
  let ledger: Ledger

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    if let issued = try record.decode(TokenIssued.self, type: .tokenIssued) {
      return { [ledger] change in try ledger.tokenKnown(issued, change) }
    }
    if let merged = try record.decode(CustomerMerged.self, type: .customerMerged) {
      return { [ledger] change in try ledger.merged(merged, change) }
    }
    if let moved = try record.decode(LineageTransferred.self, type: .lineageTransferred) {
      guard let id = LineageID(moved.lineage) else {
        throw Undecodable(
          "malformed-lineage", "'\(moved.lineage)' is not bundleId/environment/id")
      }
      return { [ledger] change in try ledger.transferred(moved, id, change) }
    }
    if let erased = try record.decode(CustomerErased.self, type: .customerErased) {
      return { [ledger] change in try ledger.erased(erased, change) }
    }
    return nil
  }
}
