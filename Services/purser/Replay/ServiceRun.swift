import FoundationEssentials
import Processes
import ServiceRuntime

/// A command of a service that serves nobody, in a folder of its own.
struct ServiceRun {
  let service: String
  private let settings: Settings
  private let executable: String
  private let folder: String
  private let isKept: Bool

  /// Makes the folder.
  ///
  /// - Parameters:
  ///   - folder: Where it was begun before, to go on there; nil for a folder that goes away.
  ///   - question: What is asked: a folder of another question is refused.
  /// - Throws: `NotOurs` for a folder that holds something else: it is left as it is.
  init(
    _ service: String, _ settings: Settings, executable: String? = nil, resuming folder: String?,
    question: String
  ) throws {
    self.service = service
    self.settings = settings
    self.executable = executable ?? Places.executables() + "/\(service)"
    isKept = folder != nil
    self.folder =
      folder.map { "\($0)/\(service)" }
      ?? "\(settings.temporaryFolder)/purser-replay-\(UUID().uuidString)"
    if !isKept { Leftovers.add(self.folder) }
    let file = self.file("question")
    if let known = FileManager.default.contents(atPath: file) {
      guard known == Data(question.utf8) else { throw OtherQuestion(folder: folder ?? self.folder) }
    } else {
      let held = (try? FileManager.default.contentsOfDirectory(atPath: self.folder)) ?? []
      guard held.isEmpty else { throw NotOurs(path: self.folder) }
      // It will hold what customers bought.
      try FileManager.default.createDirectory(
        atPath: self.folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      try Data(question.utf8).write(to: URL(filePath: file))
    }
  }

  /// A file in the folder.
  func file(_ name: String) -> String { "\(folder)/\(name)" }

  /// Whether a file was made before.
  func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

  /// The number in a file; nil when it was not made yet.
  func number(_ name: String) throws -> Int64? {
    guard has(name) else { return nil }
    return Int64(
      String(decoding: try Data(contentsOf: URL(filePath: file(name))), as: UTF8.self))
  }

  /// The variable that names the service's store.
  var storeVariable: String {
    "\(service.split(separator: "-")[0].uppercased())_STORE"
  }

  /// Runs it to its end, with all settings of ours and those given, and tells how far it is; blocks.
  ///
  /// - Throws: `ServiceRunFailed` with the end of its log.
  func run(_ words: [String], environment: [String: String]) throws {
    let child = try ChildProcess(
      ChildProcess.Program(
        name: service, executable: executable, arguments: words,
        environment: Self.quiet(settings.environment).merging(environment) { $1 },
        logFile: file("log")))
    Leftovers.writes(child)
    defer { Leftovers.writes(nil) }
    var said = ""
    while child.ending.wait(by: .after(.seconds(3))) == nil {
      let news = LogTail.lines(of: file("log"), 20).compactMap(Progress.init).last?.text
      guard let news, news != said else { continue }
      said = news
      Terminal.complain("purser: \(service): \(news)")
    }
    let ending = child.ending.wait()
    guard ending == .exit(0) else {
      throw ServiceRunFailed(
        command: "\(service) \(words[0])", ending: ending,
        log: LogTail.lines(of: file("log"), 5).joined(separator: "\n"),
        goesOn: isKept)
    }
  }

  /// The settings without what only who serves needs: such a command lets nobody in and asks no other shard.
  private static func quiet(_ environment: [String: String]) -> [String: String] {
    var quiet = environment.filter { name, _ in
      !["PURSER_API_KEYS", "PURSER_JWT_", "PURSER_PEERS"].contains { name.hasPrefix($0) }
    }
    quiet["PURSER_INSECURE"] = "1"
    quiet["PURSER_PEERS"] = "http://shard-{}.invalid"
    return quiet
  }

  /// Removes the folder: the question is answered.
  func remove() {
    try? FileManager.default.removeItem(atPath: folder)
    Leftovers.forget(folder)
  }

  /// Removes the folder unless it is to be gone on with.
  func abandon() { if !isKept { remove() } }

  /// How far a service says it is.
  private struct Progress: Decodable {
    let topics: String?
    let records: Int64?
    let of: Int64?
    let perSecond: Int64?
    let secondsLeft: Int64?
    let parts: Int64?

    init?(_ line: String) {
      guard let read = try? JSONDecoder().decode(Self.self, from: Data(line.utf8)) else {
        return nil
      }
      self = read
    }

    var text: String? {
      if let parts { return "computing, \(parts) parts are done" }
      guard let topics, let records, let of else { return nil }
      return "\(records) of \(of) records of \(topics), \(perSecond ?? 0) a second, "
        + "about \(secondsLeft ?? 0) s to go"
    }
  }
}

/// A file or folder of `--resume` that no replay has made.
struct NotOurs: Error, CustomStringConvertible {
  let path: String
  var description: String {
    "\(path) is there and holds something that no replay has made; name another place with --resume"
  }
}

/// A folder of `--resume` in which something else was asked.
struct OtherQuestion: Error, CustomStringConvertible {
  let folder: String
  var description: String {
    "\(folder) is of another question; ask that one again, or name another folder with --resume"
  }
}

/// A service's command that did not end well.
struct ServiceRunFailed: Error, CustomStringConvertible {
  let command: String
  let ending: ChildProcess.Ending
  let log: String
  let goesOn: Bool
  var description: String {
    "\(command) ended with \(ending):\n\(log)"
      + (goesOn ? "\nThe same command goes on where it was." : "")
  }
}
