import FoundationEssentials

/// Where the executables and the files of the repository are.
struct Places: Sendable {
  /// The folder of `order-service` and the others.
  var executables: String
  /// The repository, for the development broker and the catalog of the demo.
  var repository: String

  /// The places around our own executable.
  ///
  /// - Throws: `PlaceError` when it was taken out of its repository.
  static func around(_ executable: String = "/proc/self/exe") throws -> Places {
    let folder = executables(around: executable)
    var repository = folder
    while !FileManager.default.fileExists(atPath: repository + "/" + marker) {
      guard !repository.isEmpty else { throw PlaceError(folder: folder) }
      repository = Self.folder(of: repository)
    }
    return Places(executables: folder, repository: repository)
  }

  /// The folder of our own executable, where those of the services lie too.
  static func executables(around executable: String = "/proc/self/exe") -> String {
    let path =
      (try? FileManager.default.destinationOfSymbolicLink(atPath: executable)) ?? executable
    return folder(of: path)
  }

  private static let marker = "deploy/scripts/dev-broker"

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }

  var broker: String { repository + "/" + Self.marker }
  var catalog: String { repository + "/deploy/demo/catalog.json" }
  /// The file that `catalog` refers to.
  var storeKitFile: String { repository + "/deploy/demo/Store.storekit" }
}

/// No repository around an executable.
struct PlaceError: Error, CustomStringConvertible {
  let folder: String

  var description: String {
    "no repository of Purser around \(folder); run the executable that 'make build' made, where it is"
  }
}
