import Events
import Kafka
import Pipeline
import ServiceRuntime

/// Finds the records that told of rows which differ, and what those came of.
struct Causes {
  /// How far a chain of causes is followed.
  private static let longest = 6

  let service: String
  let settings: Settings

  /// A difference, and what led to it: the record that told it last, what that came of, and so on.
  struct Explained {
    let difference: StoreComparison.Difference
    var causes: [ReceivedRecord] = []
  }

  /// Reads what the service has published, once: finds the newest record of each difference, and shows
  /// every record to `body`.
  ///
  /// Blocks. Gives the differences in the order in which they were told, those without a record last.
  func explain(
    _ differences: [StoreComparison.Difference], _ body: (ReceivedRecord) throws -> Void
  ) throws -> [Explained] {
    var explained = differences.map { Explained(difference: $0) }
    let marks = differences.map(\.marks)
    let progress = ReplayProgress()
    for topic in Decisions.topics(of: service) {
      let reading = try TopicReading(
        topic.rawValue, names: TopicNames(prefix: settings.topicPrefix),
        configuration: try settings.clientConfiguration())
      defer { reading.close() }
      try reading.begin(at: .beginning)
      let ending = try reading.read(follows: false) { record in
        progress.add(topic.rawValue, left: reading.left)
        try body(record)
        for index in explained.indices
        where !marks[index].isEmpty && marks[index].allSatisfy({ RecordFilter.names($0, record) }) {
          // In one partition what comes later is newer; a row's records share a key.
          explained[index].causes = [record]
        }
        return true
      }
      if ending == .silence { throw StoryIncomplete(topic: topic) }
    }
    for index in explained.indices { try follow(&explained[index].causes) }
    return explained.sorted {
      ($0.causes.first?.timestamp ?? .max) < ($1.causes.first?.timestamp ?? .max)
    }
  }

  /// Adds what a record came of, as its header says.
  private func follow(_ chain: inout [ReceivedRecord]) throws {
    while let input = chain.last?.input, chain.count < Self.longest {
      do {
        chain.append(
          try RecordFetch.record(
            input.partition.topic, input.partition.partition, input.offset, settings))
      } catch is ReadingError {
        // A proof stays on its topic for 30 days.
        return
      }
    }
  }
}
