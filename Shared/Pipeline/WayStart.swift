public import Kafka

/// Where the way of an event began, so that its time is measured up to the broker's report.
public struct WayStart: Sendable, Equatable {
  /// How Apple's word reached us, as in `FactSource`.
  public let source: String
  /// When Apple signed it, UTC milliseconds.
  public let signedAt: Int64?
  /// When it was received, UTC milliseconds.
  public let receivedAt: Int64?

  /// Makes a start; a date that is not known is nil.
  public init(source: String, signedAt: Int64?, receivedAt: Int64?) {
    self.source = source
    self.signedAt = signedAt
    self.receivedAt = receivedAt
  }

  /// Reads `source/signed/received`; nil for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty else { return nil }
    self.init(
      source: String(parts[0]), signedAt: Int64(parts[1]), receivedAt: Int64(parts[2]))
  }

  /// What a row of the outbox says, but for dead letters, whose headers are those of others.
  init?(of row: Outbox.Row) {
    guard let headers = row.headers, !headers.contains(where: { $0.name == "purser-reason" }),
      let header = headers.last(where: { $0.name == StoreHeaders.way })
    else { return nil }
    self.init(String(decoding: header.value, as: UTF8.self))
  }

  var text: String {
    "\(source)/\(signedAt.map { "\($0)" } ?? "")/\(receivedAt.map { "\($0)" } ?? "")"
  }
}

extension ReceivedRecord {
  /// Where the way began that led to it, as far as it says.
  public var wayStart: WayStart? { header(StoreHeaders.way).flatMap { WayStart($0) } }
}

extension Change {
  /// The same change, whose events of lineages and of customers say where their way began.
  public func since(_ start: WayStart?) -> Change {
    var change = self
    change.wayStart = start
    return change
  }
}
