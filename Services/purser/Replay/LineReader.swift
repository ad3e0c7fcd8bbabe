import Glibc

/// Reads a file of lines with bounded memory.
enum LineReader {
  /// Hands over each line without its end; blocks.
  ///
  /// - Throws: `ReplayWriteError` when the file cannot be read.
  static func forEach(_ path: String, _ body: ([UInt8]) throws -> Void) throws {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw ReplayWriteError(path: path, code: errno) }
    defer { close(file) }
    var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    var line: [UInt8] = []
    while true {
      let count = unsafe buffer.withUnsafeMutableBytes {
        unsafe read(file, $0.baseAddress, $0.count)
      }
      guard count >= 0 else { throw ReplayWriteError(path: path, code: errno) }
      guard count > 0 else { break }
      var parts = buffer[..<count].split(
        separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      let last = parts.removeLast()
      for part in parts {
        line += part
        try body(line)
        line.removeAll(keepingCapacity: true)
      }
      line += last
    }
    if !line.isEmpty { try body(line) }
  }
}
