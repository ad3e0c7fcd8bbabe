import Cryptography
import Pipeline
import SQLite

/// Ids of what a customer's spends, credits and grants make: of the kind, the customer as asked for, and
/// the idempotency key, so that a repeated request finds what the first one made.
enum WriteID {
  static func make(_ kind: String, _ customer: String, _ key: String) -> String {
    UUIDs.version5(namespace: EventID.namespace, name: "\(kind)\n\(customer)\n\(key)")
  }

  /// The ids that the same key has under every id that means the same customer, the one asked for first.
  ///
  /// An app that signs in between the first try and the next asks under another id the second time.
  static func all(
    _ kind: String, _ asked: String, _ row: CustomerRow, _ key: String, _ transaction: Transaction
  ) throws -> some Sequence<String> {
    let aliases = try EraseCustomer.aliases(transaction, row.customer)
    return ([asked, row.customer] + aliases).lazy.map { make(kind, $0, key) }
  }
}

extension Sequence {
  /// The first result that is not nil.
  func firstNonNil<Result>(_ body: (Element) throws -> Result?) rethrows -> Result? {
    for element in self {
      if let result = try body(element) { return result }
    }
    return nil
  }
}
