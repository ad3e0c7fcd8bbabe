import Events
import Kafka

/// Which records are wanted.
struct RecordFilter: Sendable {
  /// Only this key.
  let key: String?
  /// Only types that are this or hold this.
  let type: String?
  /// Only what names this lineage, or this transaction.
  var lineage: String?
  /// Only what is not older, UTC milliseconds.
  var from: Int64?
  /// Only what is older, UTC milliseconds.
  var until: Int64?

  func takes(_ record: ReceivedRecord) -> Bool {
    if let key, record.key ?? [] != Array(key.utf8) || record.key == nil { return false }
    if let from, record.timestamp < from { return false }
    if let until, record.timestamp >= until { return false }
    if let type, record.header("ce_type")?.contains(type) != true { return false }
    guard let lineage else { return true }
    return Self.names(LineageID(lineage)?.originalTransactionId ?? lineage, record)
  }

  /// Whether it takes everything.
  var isOpen: Bool {
    key == nil && type == nil && lineage == nil && from == nil && until == nil
  }

  /// Whether a record has a text in its key or its value.
  static func names(_ text: String, _ record: ReceivedRecord) -> Bool {
    let wanted = Array(text.utf8)
    return [record.key, record.value].contains { $0.map { contains($0, wanted) } ?? false }
  }

  private static func contains(_ bytes: [UInt8], _ wanted: [UInt8]) -> Bool {
    guard let first = wanted.first, bytes.count >= wanted.count else { return false }
    var rest = bytes[...(bytes.count - wanted.count)]
    while let place = rest.firstIndex(of: first) {
      if bytes[place...].starts(with: wanted) { return true }
      rest = rest[(place + 1)...]
    }
    return false
  }
}
