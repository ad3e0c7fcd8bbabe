#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Where copies are kept for times without a network.
public protocol LocalCopies: Sendable {
  /// What was kept under a name; nil for nothing.
  func read(_ name: String) -> Data?
  /// Keeps something; nil forgets it.
  func write(_ name: String, _ data: Data?)
}

/// Copies as files of a folder, such as the app's `Application Support`.
///
/// A copy that cannot be written is not kept: the app then knows less without a network.
public struct FileCopies: LocalCopies {
  private let folder: String

  /// Makes copies in a folder, which is made when it is not there.
  public init(folder: String) { self.folder = folder }

  /// What was kept under a name.
  public func read(_ name: String) -> Data? {
    FileManager.default.contents(atPath: path(name))
  }

  /// Keeps something.
  public func write(_ name: String, _ data: Data?) {
    guard let data else {
      try? FileManager.default.removeItem(atPath: path(name))
      return
    }
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try? data.write(to: URL(fileURLWithPath: path(name)), options: .atomic)
  }

  /// What stands in a name is escaped, so it holds no `/`.
  private func path(_ name: String) -> String { "\(folder)/\(name).json" }
}

/// A copy of an answer with its entity tag.
struct KeptAnswer<Value: Codable>: Codable {
  let tag: String?
  let value: Value
}
