import FoundationEssentials
import Glibc

/// Changes of a key file: whole, or not at all.
///
/// One change at a time, by a lock on a file beside it; the new text takes the old one's place by
/// renaming, so that a reader sees one or the other.
public struct KeyFile: Sendable {
  private let path: String

  /// Takes a path; the file need not be there.
  public init(path: String) { self.path = path }

  static func text(of path: String) throws(KeyFileError) -> String {
    guard let data = try? Data(contentsOf: URL(filePath: path)) else {
      throw KeyFileError(path: path, problem: "cannot be read")
    }
    guard data.count <= 4 << 20, let text = String(validating: data, as: UTF8.self) else {
      throw KeyFileError(path: path, problem: "is no text of at most 4 MiB")
    }
    return text
  }

  /// The keys in the file.
  ///
  /// Blocks. Throws `KeyFileError`, also when it is not there, or `AccessKeysError`.
  public func read() throws -> AccessKeys {
    guard FileManager.default.fileExists(atPath: path) else {
      throw KeyFileError(
        path: path, problem: "is not there; 'purser keys create' makes it with its first key")
    }
    return try AccessKeys(parsing: try Self.text(of: path))
  }

  /// Adds a line at the end.
  ///
  /// Blocks. Throws `KeyFileError`, or `AccessKeysError` for a file that cannot be used as it is.
  public func add(_ line: KeyLine) throws {
    try change { text in
      text + (text.isEmpty || text.hasSuffix("\n") ? "" : "\n") + line.text + "\n"
    }
  }

  /// Removes the lines of these keys; comments and all others stay as they are.
  ///
  /// Blocks. Throws as `add`.
  public func remove(_ lines: [KeyLine]) throws {
    let hashes = Set(lines.map(\.hash))
    try change { text in
      let kept = text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
        guard let read = try? KeyLine(parsing: line) else { return true }
        return line.drop(while: \.isWhitespace).hasPrefix("#") || !hashes.contains(read.hash)
      }
      return kept.joined(separator: "\n")
    }
  }

  private func change(_ body: (String) -> String) throws {
    let lock = unsafe open("\(path).lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw error("the lock beside it cannot be made") }
    defer { close(lock) }
    // Held until the descriptor is closed, also by the kernel when this process dies.
    while flock(lock, LOCK_EX) != 0 {
      guard errno == EINTR else { throw error("the lock beside it cannot be taken") }
    }
    let exists = FileManager.default.fileExists(atPath: path)
    let text = body(exists ? try Self.text(of: path) : "")
    _ = try AccessKeys(parsing: text)
    try replace(with: text, mode: exists ? try mode() : 0o600)
  }

  private func mode() throws -> mode_t {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { throw error("cannot be looked at") }
    return status.st_mode & 0o777
  }

  private func replace(with text: String, mode: mode_t) throws {
    let fresh = "\(path).new"
    let descriptor = unsafe open(fresh, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, mode)
    guard descriptor >= 0 else { throw error("no file can be made beside it") }
    var isWritten = fchmod(descriptor, mode) == 0
    var rest = Array(text.utf8)[...]
    while isWritten, !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { bytes in
        unsafe write(descriptor, bytes.baseAddress, bytes.count)
      }
      isWritten = count > 0 || (count < 0 && errno == EINTR)
      rest = rest.dropFirst(max(0, count))
    }
    isWritten = isWritten && fsync(descriptor) == 0
    close(descriptor)
    guard isWritten, unsafe rename(fresh, path) == 0 else {
      _ = unsafe unlink(fresh)
      throw error("cannot be replaced")
    }
    let slash = path.lastIndex(of: "/")
    let folder = slash.map { String(path[...$0]) } ?? "."
    let opened = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard opened >= 0 else { return }
    fsync(opened)
    close(opened)
  }

  private func error(_ what: String) -> KeyFileError {
    KeyFileError(path: path, problem: "\(what): \(unsafe String(cString: strerror(errno)))")
  }
}

/// A key file that cannot be read or changed.
public struct KeyFileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file.
  public let path: String
  /// What is wrong.
  public let problem: String

  /// Both.
  public var description: String { "the key file '\(path)' \(problem)" }
}
