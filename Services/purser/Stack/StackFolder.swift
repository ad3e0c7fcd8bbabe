import FoundationEssentials
import Glibc

/// The folder of a stack: stores, logs, configuration, and the broker's data.
struct StackFolder: Sendable {
  /// An absolute path.
  let path: String

  /// Marks a folder as ours, so that no other is ever emptied.
  private static let mark = ".purser-stack"

  /// Takes a folder, which is made if it is not there.
  ///
  /// - Throws: `FolderError` when something else is in it.
  init(at path: String) throws {
    let here = FileManager.default.currentDirectoryPath
    self.path = path.hasPrefix("/") ? path : "\(here)/\(path)"
    try FileManager.default.createDirectory(
      atPath: self.path, withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    let mark = "\(self.path)/\(Self.mark)"
    let content = try FileManager.default.contentsOfDirectory(atPath: self.path)
    guard content.isEmpty || FileManager.default.fileExists(atPath: mark) else {
      throw FolderError(path: self.path)
    }
    try Data("made by purser; emptied at its next start\n".utf8).write(to: URL(filePath: mark))
  }

  /// Makes a folder for one run below another.
  static func temporary(in folder: String) throws -> StackFolder {
    let name = UUID().uuidString.lowercased().prefix(8)
    return try StackFolder(at: "\(folder)/purser-demo-\(name)")
  }

  /// Takes the folder for this process, until it ends: nobody empties the files of a running stack.
  ///
  /// - Throws: `FolderError` when another process has it.
  func lock() throws {
    let descriptor = unsafe open("\(path)/\(Self.mark)", O_RDWR | O_CLOEXEC)
    guard descriptor >= 0, flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      throw FolderError(
        path: path,
        reason: "is in use by another purser; stop that one, or give another with --directory")
    }
    // Kept open on purpose: the kernel gives the lock back when this process ends.
  }

  /// Removes everything that an earlier run left.
  func empty() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != Self.mark {
      try FileManager.default.removeItem(atPath: "\(path)/\(name)")
    }
  }

  /// Removes the folder and all in it.
  func remove() throws { try FileManager.default.removeItem(atPath: path) }

  /// Writes a file that nobody else may read.
  func write(secret: String, to name: String) throws {
    let made = FileManager.default.createFile(
      atPath: "\(path)/\(name)", contents: Data("\(secret)\n".utf8),
      attributes: [.posixPermissions: 0o600])
    guard made else { throw FolderError(path: "\(path)/\(name)", reason: "cannot be written") }
  }
}

/// A folder that cannot be a stack's.
struct FolderError: Error, CustomStringConvertible {
  let path: String
  var reason = "holds files that are not purser's; give an empty or new folder"

  var description: String { "\(path) \(reason)" }
}
