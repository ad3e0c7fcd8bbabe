import FoundationEssentials

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
