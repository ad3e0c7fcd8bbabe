import Glibc
public import ServiceRuntime

/// Which shard a process is and where the others are, from its settings.
public struct ShardSettings: Sendable {
  /// The shard.
  public let shard: Shard
  /// The addresses of all shards by their ordinals, without a slash at the end; empty where there is one.
  public let peers: [String]

  /// No others.
  public static let only = ShardSettings(shard: .only, peers: [])

  /// Takes a shard and the addresses of all.
  public init(shard: Shard, peers: [String]) {
    self.shard = shard
    self.peers = peers
  }

  /// Reads `PURSER_PARTITIONS`, `PURSER_SHARD_COUNT`, `PURSER_SHARD` and `PURSER_PEERS`.
  ///
  /// - Parameters:
  ///   - reader: Collects faults and declarations.
  ///   - isSharded: Whether the process owns partitions; an edge of verify-service does not, and of the
  ///     settings that it shares with others only their form counts.
  ///   - hostName: Ends in the ordinal in a StatefulSet.
  public init(
    _ reader: inout SettingsReader, isSharded: Bool = true,
    hostName: String = ShardSettings.hostName
  ) {
    let partitions = reader.integer(
      "PURSER_PARTITIONS", default: 12, in: 1...1024,
      "how many partitions the topics were made with")
    let count = reader.integer(
      "PURSER_SHARD_COUNT", default: 1, in: 1...1024,
      "how many shards each service with a store has; the same for all of them")
    let word = reader.optionalText(
      "PURSER_SHARD",
      "which shard this process is, from 0; without it the number at the end of the host's name, "
        + "such as 2 of order-service-2")
    let addresses = reader.optionalText(
      "PURSER_PEERS",
      "the addresses of this service's shards: one with {} for the ordinal, such as "
        + "http://order-service-{}.order-service:8081, or one for each with commas between")
    guard isSharded, count > 1 else {
      shard = Shard(ordinal: 0, count: 1, partitions: partitions)
      peers = []
      if isSharded, let word, word != "0" {
        reader.fault("PURSER_SHARD", "is '\(word)', and PURSER_SHARD_COUNT is 1; set the count too")
      }
      return
    }
    if count > partitions {
      reader.fault(
        "PURSER_SHARD_COUNT",
        "is \(count), and there are \(partitions) partitions; a shard needs at least one")
    }
    let ordinal = Self.ordinal(word, hostName, count, &reader)
    shard = Shard(ordinal: ordinal, count: count, partitions: partitions)
    peers = Self.peers(addresses, count, &reader)
  }

  private static func ordinal(
    _ word: String?, _ hostName: String, _ count: Int, _ reader: inout SettingsReader
  ) -> Int {
    guard let ordinal = word.map({ Int($0) }) ?? ordinal(inHostName: hostName) else {
      reader.fault(
        "PURSER_SHARD",
        word.map { "is '\($0)'; give a whole number from 0 to \(count - 1)" }
          ?? "is not set, and the host's name '\(hostName)' does not end in a number, such as -0")
      return 0
    }
    guard (0..<count).contains(ordinal) else {
      reader.fault(
        "PURSER_SHARD",
        "is \(ordinal)\(word == nil ? " by the host's name '\(hostName)'" : ""), and "
          + "PURSER_SHARD_COUNT is \(count); ordinals go from 0 to \(count - 1)")
      return 0
    }
    return ordinal
  }

  /// The number behind the last hyphen of the first part of a host's name.
  static func ordinal(inHostName name: String) -> Int? {
    let first = name.prefix { $0 != "." }
    guard let hyphen = first.lastIndex(of: "-") else { return nil }
    let digits = first[first.index(after: hyphen)...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int(digits)
  }

  private static func peers(_ text: String?, _ count: Int, _ reader: inout SettingsReader)
    -> [String]
  {
    guard let text else {
      reader.fault(
        "PURSER_PEERS",
        "is not set; with \(count) shards each must know where the others are, such as "
          + "http://order-service-{}.order-service:8081")
      return []
    }
    let written =
      text.contains("{}")
      ? (0..<count).map { text.replacing("{}", with: "\($0)") }
      : text.split(separator: ",").map { String($0.filter { !$0.isWhitespace }) }
    guard written.count == count else {
      reader.fault("PURSER_PEERS", "names \(written.count) addresses for \(count) shards")
      return []
    }
    let peers = written.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
    if let wrong = peers.first(where: { !isOrigin($0) }) {
      reader.fault(
        "PURSER_PEERS", "names '\(wrong)'; give http:// or https://, a host and a port, no path")
    }
    if Set(peers).count < peers.count {
      reader.fault(
        "PURSER_PEERS", "names the same address twice; each shard has its own, as by {}")
    }
    return peers
  }

  private static func isOrigin(_ text: String) -> Bool {
    for scheme in ["http://", "https://"] where text.hasPrefix(scheme) {
      let host = text.dropFirst(scheme.count)
      return !host.isEmpty
        && host.utf8.allSatisfy {
          $0 > 0x20 && $0 < 0x7F && ![0x2F, 0x3F, 0x23, 0x40].contains($0)
        }
    }
    return false
  }

  /// The name of this host.
  public static var hostName: String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard unsafe gethostname(&bytes, bytes.count - 1) == 0 else { return "" }
    return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
