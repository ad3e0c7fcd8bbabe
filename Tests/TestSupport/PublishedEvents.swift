import FoundationEssentials
import Glibc
import Synchronization

/// Events that tests saw published, kept for `deploy/scripts/check-events`: one of each shape.
///
/// All events of one shape fit a schema or none does. `deploy/scripts/test` has the file judged when all
/// targets have run, so that Python starts once.
public enum PublishedEvents {
  /// Where lines are added; `deploy/scripts/test` begins with an empty one.
  public static let file = TestData.packageRoot + "/.purser/published-events.jsonl"

  private static let known = Mutex<Set<[UInt8]>>([])

  /// Keeps an event, unless one of its shape is kept; `type` is its `ce_type`.
  public static func note(_ type: String, _ value: [UInt8]?) {
    guard let value, let line = newLine(type, value) else { return }
    let folder = TestData.packageRoot + "/.purser"
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    precondition(descriptor >= 0, "\(file) cannot be opened: errno \(errno)")
    defer { close(descriptor) }
    let written = unsafe line.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
    precondition(written == line.count, "\(file) cannot be written: errno \(errno)")
  }

  /// The line of an event, if none of its shape was asked for in this process.
  public static func newLine(_ type: String, _ value: [UInt8]) -> [UInt8]? {
    let line = Array(#"{"type":"\#(type)","value":"#.utf8) + value + Array("}\n".utf8)
    let isNew = known.withLock { $0.insert(Array(type.utf8) + shape(of: value)).inserted }
    return isNew ? line : nil
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
        shape += isName ? Array(text[start..<index]) : [UInt8(ascii: "s")]
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        let start = index
        while index < text.count, isPartOfNumber(text[index]) { index += 1 }
        // A whole number fits where another one does not.
        let isWhole = !text[start..<index].contains { ".eE".utf8.contains($0) }
        shape.append(isWhole ? UInt8(ascii: "n") : UInt8(ascii: "d"))
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
