import Events
import FoundationEssentials
import Kafka
import Synchronization
import TestSupport

@testable import purser

/// Has `check-jsonschema` hold what was published against the schemas, unknown fields forbidden.
///
/// All events of one shape fit a schema or none does, so one of each shape is judged, once in a run.
enum EventJudge {
  private static let known = Mutex<Set<[UInt8]>>([])

  /// What is wrong with events of our services; nothing when all is as promised.
  static func complaints(about events: some Sequence<ReadEvent>) async -> [String] {
    var lines: [UInt8] = []
    for event in events {
      guard event.topic != .deadLetters, let value = event.record.value,
        event.record.header("ce_source")?.hasPrefix("/purser/") == true
      else { continue }
      let type = Array(#"{"type":"\#(event.type.rawValue)","value":"#.utf8)
      guard known.withLock({ $0.insert(shape(of: type + value)).inserted }) else { continue }
      lines += type + value + Array("}\n".utf8)
    }
    guard !lines.isEmpty else { return [] }
    let file = "/tmp/purser-judged-\(UUID().uuidString)"
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

  /// A JSON text without its values: names and punctuation stay, a letter stands for each value.
  static func shape(of text: [UInt8]) -> [UInt8] {
    var shape: [UInt8] = []
    var index = 0
    while index < text.count {
      let byte = text[index]
      switch byte {
      case UInt8(ascii: "\""):
        let start = index
        index += 1
        while index < text.count, text[index] != UInt8(ascii: "\"") {
          index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        index += 1
        let isName = index < text.count && text[index] == UInt8(ascii: ":")
        // The type is a value that decides which schema counts.
        let isType = shape == Array(#"{"type":"#.utf8)
        shape +=
          isName || isType ? Array(text[start..<min(index, text.count)]) : [UInt8(ascii: "s")]
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        while index < text.count, isPartOfNumber(text[index]) { index += 1 }
        shape.append(UInt8(ascii: "n"))
      default:
        shape.append(byte)
        index += 1
      }
    }
    return shape
  }

  private static func isPartOfNumber(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."), UInt8(ascii: "e"),
      UInt8(ascii: "E"):
      true
    default: false
    }
  }
}
