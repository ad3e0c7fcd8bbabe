internal import FoundationEssentials

/// The shared test data beside the package, found from this file upwards.
public enum TestData {
  /// Why a file could not be read.
  public struct Missing: Error, CustomStringConvertible {
    /// The file and what to do.
    public let description: String
  }

  /// The folder `testdata`.
  ///
  /// `PURSER_TESTDATA` names it where the package does not lie beside `shared`.
  public static let root: String = {
    if let named = ProcessInfo.processInfo.environment["PURSER_TESTDATA"] { return named }
    return URL(filePath: packageRoot).deletingLastPathComponent().appending(path: "shared/testdata")
      .path
  }()

  /// The folder of `Package.swift`.
  public static let packageRoot: String = {
    var folder = URL(filePath: #filePath).deletingLastPathComponent()
    while folder.path.count > 1 {
      let manifest = folder.appending(path: "Package.swift").path
      if FileManager.default.fileExists(atPath: manifest) { break }
      folder = folder.deletingLastPathComponent()
    }
    return folder.path.hasSuffix("/") ? String(folder.path.dropLast()) : folder.path
  }()

  /// The bytes of a file, by its path within `testdata`.
  public static func bytes(_ path: String) throws -> [UInt8] {
    let full = root + "/" + path
    guard let data = FileManager.default.contents(atPath: full) else {
      throw Missing(
        description: "no test data at \(full); set PURSER_TESTDATA to the folder testdata")
    }
    return [UInt8](data)
  }

  /// The text of a file, by its path within `testdata`.
  public static func text(_ path: String) throws -> String {
    String(decoding: try bytes(path), as: UTF8.self)
  }
}
