import FoundationEssentials
import Processes
import ServiceRuntime

/// A program that a test runs to its end, for instance one that judges what we made.
public enum Script {
  /// How it ended, and all that it said.
  public struct Ending: Sendable {
    /// The exit code; nil when a signal ended it.
    public let code: Int32?
    /// Both of its outputs.
    public let output: String
  }

  /// The Python with the packages of `deploy/scripts/requirements.txt`; `deploy/scripts/setup` makes it.
  public static let python = TestData.packageRoot + "/.venv/bin/python3"

  /// Runs a program with the tools of the machine on its PATH.
  public static func run(
    _ executable: String, _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> Ending {
    let log = TestFolder.path("script")
    defer { try? FileManager.default.removeItem(atPath: log) }
    let child = try ChildProcess(
      ChildProcess.Program(
        name: "script", executable: executable, arguments: arguments,
        environment: ["PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"]
          .merging(environment) { $1 },
        logFile: log))
    let ending = await child.ending.value()
    let output = LogFile.bytes(log)
    var code: Int32?
    if case .exit(let status) = ending { code = status }
    return Ending(code: code, output: String(decoding: output, as: UTF8.self))
  }
}
