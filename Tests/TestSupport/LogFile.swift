public import FoundationEssentials
import Glibc

/// What a child process has written so far to its log.
public enum LogFile {
  /// The whole file; empty when it is not there.
  ///
  /// A file of no bytes is not read: Foundation's reader loses its buffer of 4 KiB for each, which
  /// LeakSanitizer tells as a leak of whoever waits for a child's first words.
  public static func bytes(_ path: String) -> Data {
    var status = stat()
    guard unsafe stat(path, &status) == 0, status.st_size > 0 else { return Data() }
    return FileManager.default.contents(atPath: path) ?? Data()
  }
}
