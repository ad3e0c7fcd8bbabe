/// The topics over which Purser's services speak, and what each of them promises.
public enum Topic: String, Sendable, CaseIterable {
  /// Tokens issued, aliases and merges, transfers by support, erasures. Key: customer.
  case customers
  /// Every move of an order, whole. Key: customer.
  case orders
  /// Proofs to verify. Key: customer.
  case proofs
  /// Signed text as Apple sent it. Key: lineage, or the notificationUUID where there is none.
  case appstore
  /// Lineage states, and one outcome per proof. Key: customer.
  case transactions
  /// The contract for other backends. Key: customer.
  case entitlements
  /// What a customer owns now; compacted. Key: customer.
  case entitlementState = "entitlement-state"
  /// Records that could not be used: original bytes and headers, reason, origin. Key: the original.
  case deadLetters = "dead-letters"

  /// What happens to old records of a topic.
  public enum Cleanup: Sendable, Equatable {
    /// Nothing: the topic is the truth, or the contract.
    case keep
    /// Records older than this many milliseconds may go.
    case after(milliseconds: Int64)
    /// Only the newest record of each key stays.
    case compact
  }

  /// What happens to old records.
  public var cleanup: Cleanup {
    switch self {
    case .customers, .orders, .appstore, .transactions, .entitlements: .keep
    case .proofs, .deadLetters: .after(milliseconds: 30 * 24 * 3600 * 1000)
    case .entitlementState: .compact
    }
  }

  /// No record is larger than this, at the producer and at the topic (2 MiB).
  public static let maximumRecordBytes = 2 * 1024 * 1024

  /// The topic settings that Purser relies on, under Kafka's names.
  public var settings: [String: String] {
    var settings = ["max.message.bytes": String(Self.maximumRecordBytes)]
    switch cleanup {
    case .keep:
      settings["cleanup.policy"] = "delete"
      settings["retention.ms"] = "-1"
    case .after(let milliseconds):
      settings["cleanup.policy"] = "delete"
      settings["retention.ms"] = String(milliseconds)
    case .compact:
      settings["cleanup.policy"] = "compact"
    }
    return settings
  }
}

/// The names of the topics on the broker: a prefix and the topic's own word.
public struct TopicNames: Sendable, Equatable {
  /// The prefix; `iap.` unless set otherwise.
  public let prefix: String

  /// Makes names with a prefix.
  public init(prefix: String = "iap.") { self.prefix = prefix }

  /// Whether names with a prefix are names that Kafka takes.
  public static func isValid(prefix: String) -> Bool {
    prefix.utf8.count <= 100
      && prefix.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// The full name on the broker.
  public func name(of topic: Topic) -> String { prefix + topic.rawValue }

  /// The topic with a full name, or nil if it is none of ours.
  public func topic(named name: String) -> Topic? {
    guard name.hasPrefix(prefix) else { return nil }
    return Topic(rawValue: String(name.dropFirst(prefix.count)))
  }

  /// The number of partitions unless set otherwise.
  ///
  /// Fixed when the topics are made.
  public static let defaultPartitions = 12
}
