import FoundationEssentials
import Glibc

/// The files of a store as bytes, as whoever finds them could read them.
public enum StoreBytes {
  /// Which of some texts stand anywhere in a store's file or in its write-ahead log.
  public static func naming(_ texts: [String], at path: String) throws -> [String] {
    let files = try [path, "\(path)-wal"].filter { FileManager.default.fileExists(atPath: $0) }
      .map { [UInt8](try Data(contentsOf: URL(filePath: $0))) }
    return texts.filter { text in files.contains { has($0, Array(text.utf8)) } }
  }

  private static func has(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    guard let first = part.first else { return true }
    return unsafe bytes.withUnsafeBytes { all in
      guard var place = all.baseAddress else { return false }
      let end = unsafe place + all.count
      while unsafe place + part.count <= end,
        let found = unsafe memchr(place, Int32(first), end - place - part.count + 1)
      {
        if unsafe memcmp(found, part, part.count) == 0 { return true }
        unsafe place = UnsafeRawPointer(found) + 1
      }
      return false
    }
  }
}
