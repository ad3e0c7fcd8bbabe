import FoundationEssentials
import Glibc
import Processes
import ServiceRuntime
import Synchronization

/// Folders that go away with the answer, however the command ends: they hold what customers bought.
enum Leftovers {
  private struct State {
    var folders: Set<String> = []
    var writer: ChildProcess?
    var signals: ShutdownSignals?
  }

  private static let state = Mutex(State())

  /// Notes a folder; from the first one on Ctrl-C and SIGTERM remove what is noted before they end us.
  static func add(_ folder: String) {
    let signals = state.withLock { state -> ShutdownSignals? in
      state.folders.insert(folder)
      guard state.signals == nil else { return nil }
      let signals = ShutdownSignals()
      state.signals = signals
      return signals
    }
    guard let signals else { return }
    _ = DedicatedThread(name: "leftovers") {
      let name = signals.first.wait()
      let (folders, writer) = state.withLock { ($0.folders, $0.writer) }
      // Or it would write there once more.
      writer?.send(SIGKILL)
      _ = writer?.ending.wait()
      for folder in folders { removeForGood(folder) }
      _exit(name == "SIGINT" ? 130 : 143)
    }
  }

  /// Notes the program that writes there.
  static func writes(_ child: ChildProcess?) { state.withLock { $0.writer = child } }

  /// Blocks for good once a signal has come: what fails from then on does so because its folder is gone, and the
  /// end is that of the signal.
  static func waitIfEnding() {
    while state.withLock({ $0.signals?.first.current }) != nil { sleep(1) }
  }

  /// The command goes on meanwhile, and may have put a file there just then.
  private static func removeForGood(_ folder: String) {
    for _ in 0..<100 where FileManager.default.fileExists(atPath: folder) {
      try? FileManager.default.removeItem(atPath: folder)
      usleep(10_000)
    }
  }

  /// Forgets a folder that was removed.
  static func forget(_ folder: String) { state.withLock { _ = $0.folders.remove(folder) } }
}
