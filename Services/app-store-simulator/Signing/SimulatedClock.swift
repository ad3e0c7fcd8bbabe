import FoundationEssentials
import ServiceRuntime
import Synchronization

/// The machine's clock and a shift that only grows, told to the other services by a file.
final class SimulatedClock: WallClock {
  private let file: String?
  private let shift: Mutex<Int64>

  /// Goes on with the shift in the file, if there is one, and writes it.
  ///
  /// - Throws: `ClockFileError`.
  init(file: String?) throws(ClockFileError) {
    self.file = file
    var start: Int64 = 0
    if let file, let data = try? Data(contentsOf: URL(filePath: file)) {
      let text = String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace }
      guard let value = Int64(text) else {
        throw ClockFileError(
          "SIMULATOR_CLOCK_FILE names \(file), which holds '\(text.prefix(40))' instead of "
            + "milliseconds; remove it")
      }
      start = value
    }
    shift = Mutex(start)
    try Self.write(start, to: file)
  }

  /// Milliseconds by which this clock is ahead of the machine's.
  var offset: Int64 { shift.withLock { $0 } }

  func now() -> Int64 { SystemClock().now() + offset }

  /// Moves forward so that `now()` is at least `time`; an earlier time changes nothing.
  ///
  /// The file is written first, so that nobody hears from a time that others cannot see.
  func advance(to time: Int64) throws(ClockFileError) {
    try shift.withLock { (shift) throws(ClockFileError) in
      let needed = time - SystemClock().now()
      guard needed > shift else { return }
      try Self.write(needed, to: file)
      shift = needed
    }
  }

  private static func write(_ shift: Int64, to file: String?) throws(ClockFileError) {
    guard let file else { return }
    do {
      try Data("\(shift)\n".utf8).write(to: URL(filePath: file), options: .atomic)
    } catch {
      throw ClockFileError("SIMULATOR_CLOCK_FILE names \(file), which cannot be written: \(error)")
    }
  }
}

/// The file of the clock's shift cannot be read or written.
struct ClockFileError: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
