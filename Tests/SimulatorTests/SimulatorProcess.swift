import Glibc
import Processes

/// What a test waited for in vain.
struct NotInTime: Error, CustomStringConvertible { let description: String }

/// The simulator as a process that the test owns and that dies with it.
enum SimulatorProcess {
  /// Starts it with nothing but these variables in its environment.
  static func start(
    _ words: [String] = [], environment: [String: String] = [:], log: String
  ) throws -> ChildProcess {
    var program = ChildProcess.Program(
      name: "simulator", executable: try executable(), arguments: words,
      environment: environment, logFile: log)
    program.isKilledWithParent = true
    return try ChildProcess(program)
  }

  /// The simulator: products of a build lie in one folder, and so do the tests.
  private static func executable() throws -> String {
    var buffer = [CChar](repeating: 0, count: 4_096)
    let count = unsafe readlink("/proc/self/exe", &buffer, buffer.count)
    let own = String(
      decoding: buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let near = own.split(separator: "/").dropLast().joined(separator: "/")
    for folder in ["/" + near, "/" + folderOfTests()] {
      let path = folder + "/app-store-simulator"
      if unsafe access(path, X_OK) == 0 { return path }
    }
    throw NotInTime(description: "no app-store-simulator beside the tests; run swift build")
  }

  private static func folderOfTests() -> String {
    let bundle = CommandLine.arguments.first { $0.contains(".xctest") } ?? ""
    return bundle.split(separator: "/").dropLast().joined(separator: "/")
  }
}
