import Events
import Kafka
import Pipeline

/// Reads `iap.customers`: whose token is whose.
struct KnowToken: RecordHandler {
  let ledger: Ledger

  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    guard let issued = try record.decode(TokenIssued.self, type: .tokenIssued) else { return nil }
    return { [ledger] change in try ledger.tokenKnown(issued, change) }
  }
}
