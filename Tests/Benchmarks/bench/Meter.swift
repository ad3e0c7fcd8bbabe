import FoundationEssentials
import Glibc
import Processes

/// What the kernel says about processes.
enum Meter {
  /// CPU seconds of a process so far, user and system, to the nanosecond (clock_getcpuclockid(3));
  /// /proc counts in ticks of 10 ms, which is a fifth of what a turn of reads takes.
  static func cpu(of process: pid_t?) -> Double {
    var clock = clockid_t()
    var time = timespec()
    guard let process, unsafe clock_getcpuclockid(process, &clock) == 0,
      unsafe clock_gettime(clock, &time) == 0
    else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// CPU seconds of our own process.
  static var ownCPU: Double { cpu(of: getpid()) }

  /// Resident memory of a process, in megabytes.
  static func memory(of process: pid_t?) -> Double {
    guard let process, let text = read("/proc/\(process)/status"),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmRSS:") }),
      let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
    else { return .nan }
    return kilobytes / 1024
  }

  /// CPU seconds that all processes of the machine used, and cores times seconds that there were.
  static var machine: (busy: Double, all: Double) {
    guard let line = read("/proc/stat")?.split(separator: "\n").first else { return (0, 0) }
    let ticks = line.split(separator: " ").dropFirst().prefix(8).compactMap { Double($0) }
    guard ticks.count == 8 else { return (0, 0) }
    let all = ticks.reduce(0, +)
    let second = Double(sysconf(Int32(_SC_CLK_TCK)))
    return ((all - ticks[3] - ticks[4]) / second, all / second)
  }

  /// Files of /proc have no size to ask for, so they are read until they end.
  private static func read(_ path: String) -> String? {
    let descriptor = unsafe open(path, O_RDONLY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 8192)
    while true {
      let count = unsafe Glibc.read(descriptor, &part, part.count)
      guard count > 0 else { return String(decoding: text, as: UTF8.self) }
      text += part.prefix(count)
    }
  }
}

/// CPU of several processes between two moments.
struct CPUWindow {
  private let processes: [(name: String, id: pid_t?)]
  private var before: [Double] = []
  private var machineBefore = Meter.machine
  private(set) var used: [(name: String, seconds: Double)] = []
  /// What others used on this machine meanwhile, in CPU seconds, and the CPU seconds that there were.
  private(set) var others = 0.0
  private(set) var all = 0.0

  init(_ children: [ChildProcess]) {
    processes =
      children.map { ($0.program.name, $0.processID) } + [("generator", getpid())]
    begin()
  }

  mutating func begin() {
    before = processes.map { Meter.cpu(of: $0.id) }
    machineBefore = Meter.machine
  }

  mutating func end() {
    used = zip(processes, before).map { ($0.name, Meter.cpu(of: $0.id) - $1) }
    let machine = Meter.machine
    all = machine.all - machineBefore.all
    others = max(0, machine.busy - machineBefore.busy - total)
  }

  var total: Double { used.reduce(0) { $0 + $1.seconds } }

  func seconds(_ name: String) -> Double { used.first { $0.name == name }?.seconds ?? 0 }

  /// Such as `broker 80, order-service 210 µs`.
  func perOperation(_ count: Int) -> String {
    used.map { "\($0.name) \(shown($0.seconds / Double(max(1, count)) * 1e6))" }
      .joined(separator: ", ") + " µs of CPU each"
  }

  var othersNote: String {
    "others used \(shown(others / max(all, 0.001) * 100)) % of this machine's cores meanwhile"
  }
}
