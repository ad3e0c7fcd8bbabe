import Events
import FoundationEssentials
import Kafka
import TestSupport

@testable import purser

/// Has `check-jsonschema` hold what was published against the schemas, unknown fields forbidden: one event
/// of each shape, once in a run.
enum EventJudge {
  /// What is wrong with events of our services; nothing when all is as promised.
  static func complaints(about events: some Sequence<ReadEvent>) async -> [String] {
    var lines: [UInt8] = []
    for event in events {
      guard event.topic != .deadLetters, let value = event.record.value,
        event.record.header("ce_source")?.hasPrefix("/purser/") == true
      else { continue }
      lines += PublishedEvents.newLine(event.type.rawValue, value) ?? []
    }
    guard !lines.isEmpty else { return [] }
    let file = TestFolder.path("judged")
    defer { try? FileManager.default.removeItem(atPath: file) }
    do {
      try Data(lines).write(to: URL(filePath: file))
      let ending = try await Script.run(
        Script.python, [TestData.packageRoot + "/deploy/scripts/check-events", file])
      return ending.code == 0 ? [] : ["events are not as their schemas say: \(ending.output)"]
    } catch {
      return ["events could not be judged: \(error)"]
    }
  }
}
