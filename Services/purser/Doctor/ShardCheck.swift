import Pipeline

/// Whether stores, settings and topics mean the same shards.
struct ShardCheck {
  /// A store and the shard that it was made for.
  struct Known: Sendable, Equatable {
    let store: StoreCheck.Store
    let shard: Shard
  }

  /// Stores of this machine that remember a shard.
  let known: [Known]
  /// `PURSER_SHARD_COUNT`; nil where it is not set.
  let count: Int?
  /// `PURSER_PARTITIONS`; nil where it is not set.
  let partitions: Int?

  /// How many partitions the topics must have; nil where neither settings nor stores say it.
  var expectedPartitions: Int? { partitions ?? known.first?.shard.partitions }

  func findings() -> [Finding] {
    guard !known.isEmpty else { return [] }
    let faults = ofCount() + ofPartitions()
    guard faults.isEmpty else { return faults }
    return known.map {
      .good(
        "shards", $0.store.service, "\($0.shard), for topics of \($0.shard.partitions) partitions")
    }
  }

  private func ofCount() -> [Finding] {
    let counts = Set(known.map(\.shard.count))
    guard counts.count == 1 else {
      let found = known.map { "\($0.store.service) is \($0.shard)" }.joined(separator: ", ")
      return [
        .fault(
          "shards", "", "the stores are of different numbers of shards: \(found)",
          "all three services have one number; name the stores of one re-shard")
      ]
    }
    return known.compactMap { known in
      let text = "the store is \(known.shard), and PURSER_SHARD_COUNT is "
      guard let count else {
        guard known.shard.count > 1 else { return nil }
        return .warning(
          "shards", known.store.service, text + "not set here",
          "run the doctor with the settings of the services; if they have none either, they do not start"
        )
      }
      guard known.shard.count != count else { return nil }
      return .fault(
        "shards", known.store.service, text + "\(count): the service does not start",
        "set it to \(known.shard.count), or run 'purser reshard'")
    }
  }

  private func ofPartitions() -> [Finding] {
    guard let expected = expectedPartitions else { return [] }
    let source = partitions == nil ? "the other stores say" : "PURSER_PARTITIONS is"
    return known.filter { $0.shard.partitions != expected }.map {
      .fault(
        "shards", $0.store.service,
        "the store was made for topics of \($0.shard.partitions) partitions, and \(source) "
          + "\(expected)", "the number is fixed when the topics are made; correct the setting")
    }
  }
}
