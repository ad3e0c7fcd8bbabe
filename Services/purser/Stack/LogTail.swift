import FoundationEssentials
import Processes

/// The end of a log file.
enum LogTail {
  private static let bytes: UInt64 = 64 * 1024

  /// The last lines; none when the file cannot be read.
  static func lines(of path: String, _ count: Int) -> [String] {
    guard let data = try? Data(contentsOf: URL(filePath: path), options: .mappedIfSafe) else {
      return []
    }
    let text = String(decoding: data.suffix(Int(bytes)), as: UTF8.self)
    return text.split(whereSeparator: \.isNewline).suffix(count).map { printable(String($0)) }
  }
}

extension ChildProcess {
  /// The last lines of its log, for a person who asks why.
  func lastLogLines(_ count: Int = 12) -> [String] { LogTail.lines(of: program.logFile, count) }
}
