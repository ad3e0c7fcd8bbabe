public import Kafka

/// Why a processor stops its service: going on would lose or double something.
public enum ProcessorError: Error, Sendable, CustomStringConvertible {
  /// The store says that more was read than the topic holds.
  case positionBeyondEnd(TopicPartition, position: Int64, end: Int64)
  /// The topics are there, but not as they must be.
  case topicsUnusable(TopicsUnusable)
  /// The service has published more than the store knows of: it is an old copy, or empty.
  case storeIsOld(known: Int64, published: Int64)

  /// The fault, and what to do about it.
  public var description: String {
    switch self {
    case .positionBeyondEnd(let partition, let position, let end):
      """
      the store has read \(partition.topic)[\(partition.partition)] up to offset \(position), but \
      the topic ends at \(end): this store belongs to another broker, or the topic was made anew. \
      Start with the broker that the store was filled from, or move the store away to begin anew.
      """
    case .topicsUnusable(let fault): fault.description
    case .storeIsOld(let known, let published):
      """
      this service has published \(published) records, and the store knows of \(known): it is an old \
      copy, or new, or from before a re-shard. Going on would tell subscribers other things under the \
      same numbers. Move the store away and run the service's `rebuild`, giving it an old copy with \
      --backup; for another number of shards run `purser reshard`.
      """
    }
  }
}
