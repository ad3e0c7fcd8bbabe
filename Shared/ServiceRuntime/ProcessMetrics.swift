import Glibc

/// What every program tells of its build and its process, under the names that Prometheus gives them.
enum ProcessMetrics {
  static func add(to metrics: Metrics, program: String) {
    let startedAt = ProcessStatus.now.map { ProcessStatus.bootTime + $0.startedAfterBoot }
    metrics.readings("purser_build_info", "Always 1; the labels say which build this is.") {
      [
        Metrics.Reading(
          1,
          labels: [
            "program": program, "version": Build.version, "configuration": Build.configuration,
          ])
      ]
    }
    metrics.readings(
      "process_cpu_seconds_total", "CPU time of the process, user and system.", kind: .counter
    ) { ProcessStatus.now.map { [Metrics.Reading($0.cpuSeconds)] } ?? [] }
    metrics.readings("process_resident_memory_bytes", "Memory of the process that is in RAM.") {
      ProcessStatus.now.map { [Metrics.Reading($0.residentBytes)] } ?? []
    }
    metrics.readings("process_virtual_memory_bytes", "Address space of the process.") {
      ProcessStatus.now.map { [Metrics.Reading($0.virtualBytes)] } ?? []
    }
    metrics.readings("process_start_time_seconds", "When the process began, UNIX seconds.") {
      startedAt.map { [Metrics.Reading($0)] } ?? []
    }
    metrics.readings("process_open_fds", "Open file descriptors.") {
      openFiles.map { [Metrics.Reading(Double($0))] } ?? []
    }
    metrics.readings("process_max_fds", "File descriptors that may be open.") {
      var limit = rlimit()
      guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
        return []
      }
      return [Metrics.Reading(Double(limit.rlim_cur))]
    }
  }

  /// How many descriptors are open, without the one that counts them.
  private static var openFiles: Int? {
    guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
    defer { unsafe closedir(folder) }
    var count = 0
    while unsafe readdir(folder) != nil { count += 1 }
    // Beside `.`, `..` and the folder's own.
    return max(0, count - 3)
  }
}

/// What the kernel says of this process (proc(5), `/proc/self/stat`).
struct ProcessStatus: Sendable, Equatable {
  var cpuSeconds: Double
  var residentBytes: Double
  var virtualBytes: Double
  /// Seconds from the start of the machine to that of the process.
  var startedAfterBoot: Double

  static var now: ProcessStatus? { ProcessStatus(text(of: "/proc/self/stat")) }

  /// When the machine was started, UNIX seconds; 0 when the kernel does not say.
  static var bootTime: Double {
    let line = text(of: "/proc/stat", atMost: 1 << 20).split(separator: "\n")
      .first { $0.hasPrefix("btime ") }
    return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
  }

  /// Reads the line of the kernel; nil when it is not one.
  init?(_ line: String) {
    // The name of the program is in parentheses, and may hold spaces and parentheses itself.
    guard let end = line.lastIndex(of: ")") else { return nil }
    let fields = line[line.index(after: end)...].split(separator: " ").map(String.init)
    guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
      let started = Double(fields[19]), let size = Double(fields[20]),
      let pages = Double(fields[21])
    else { return nil }
    let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
    cpuSeconds = (user + system) / ticks
    startedAfterBoot = started / ticks
    virtualBytes = size
    residentBytes = pages * Double(max(1, sysconf(Int32(_SC_PAGESIZE))))
  }

  /// The text of a file of the kernel, which has no size that could be asked for; empty on a fault.
  private static func text(of path: String, atMost limit: Int = 4096) -> String {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while bytes.count < limit {
      let count = unsafe read(file, &part, part.count)
      guard count > 0 else { break }
      bytes += part[..<count]
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
