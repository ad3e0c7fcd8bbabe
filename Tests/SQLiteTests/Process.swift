import FoundationEssentials
import Glibc

func ownProcess() -> Int32 { getpid() }

/// The name of the calling thread as the kernel has it.
func threadName() -> String {
  let data = try? Data(contentsOf: URL(filePath: "/proc/thread-self/comm"))
  return String(decoding: data ?? Data(), as: UTF8.self).filter { $0 != "\n" }
}

extension TemporaryStore {
  func exists(_ file: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(folder)/\(file)")
  }
}
