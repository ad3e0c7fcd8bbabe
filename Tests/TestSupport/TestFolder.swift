import FoundationEssentials
import Glibc
import Synchronization

/// Where a test's files are: in one folder of the process, which is removed when the process ends.
public enum TestFolder {
  private static let numbers = Atomic<Int>(0)
  private static let root: String = {
    let path = "/tmp/purser-tests-\(getpid())-\(UUID().uuidString.prefix(8))"
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true)
    } catch {
      fatalError("cannot make \(path): \(error)")
    }
    atexit { try? FileManager.default.removeItem(atPath: TestFolder.root) }
    return path
  }()

  /// A path of the test's own, at which nothing is yet.
  public static func path(_ name: String) -> String {
    "\(root)/\(name)-\(numbers.wrappingAdd(1, ordering: .relaxed).newValue)"
  }
}
