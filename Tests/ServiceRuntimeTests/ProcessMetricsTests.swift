import FoundationEssentials
import Glibc
import Testing

@testable import ServiceRuntime

@Suite struct `Metrics of the process` {
  private func values() -> [String: Double] {
    let metrics = Metrics()
    ProcessMetrics.add(to: metrics, program: "a-service")
    return Dictionary(
      metrics.text().split(separator: "\n").filter { !$0.hasPrefix("#") }.compactMap { line in
        let parts = line.split(separator: " ")
        return parts.last.flatMap { Double($0) }.map { (String(parts[0]), $0) }
      }, uniquingKeysWith: { $1 })
  }

  @Test func `memory, time of the processor and the start are those of this process`() throws {
    let began = SystemClock().now()
    var values = values()
    let spent = try #require(values["process_cpu_seconds_total"])
    let memory = try #require(values["process_resident_memory_bytes"])
    #expect(memory > 1_000_000 && memory < 100_000_000_000)
    #expect(try #require(values["process_virtual_memory_bytes"]) >= memory)
    // The test process began before this test, and not longer ago than anybody would let it run.
    let start = try #require(values["process_start_time_seconds"])
    #expect(start <= Double(began) / 1000 + 2)
    #expect(start > Double(began) / 1000 - 86_400)
    // Work is seen; the kernel counts in hundredths of a second.
    let deadline = Deadline.after(.seconds(60))
    var sum = 0
    while (values["process_cpu_seconds_total"] ?? 0) < spent + 0.05 && !deadline.hasPassed {
      for number in 0..<200_000 { sum &+= number }
      values = self.values()
    }
    #expect(try #require(values["process_cpu_seconds_total"]) >= spent + 0.05, "\(sum)")
  }

  @Test func `open files are counted`() throws {
    // Other tests open and close files meanwhile; so many they do not.
    let before = try #require(values()["process_open_fds"])
    let files = (0..<200).map { _ in unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) }
    let after = try #require(values()["process_open_fds"])
    for file in files { close(file) }
    #expect(after - before > 100)
    #expect(try #require(values()["process_max_fds"]) >= after)
  }

  @Test func `a program's name may hold anything`() throws {
    let line = "7 (a) b) (c) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 9 0 4200 8192000 25 1 1"
    let status = try #require(ProcessStatus(line))
    #expect(status.cpuSeconds == 300 / Double(sysconf(Int32(_SC_CLK_TCK))))
    #expect(status.virtualBytes == 8_192_000)
    #expect(status.residentBytes == Double(25 * sysconf(Int32(_SC_PAGESIZE))))
    #expect(status.startedAfterBoot == 4200 / Double(sysconf(Int32(_SC_CLK_TCK))))
    #expect(ProcessStatus("") == nil && ProcessStatus("7 (a) S 1") == nil)
  }

  @Test func `the build is told as labels of a one`() {
    #expect(
      values().keys.contains {
        $0.hasPrefix("purser_build_info{") && $0.contains("program=\"a-service\"")
          && $0.contains("version=\"\(Build.version)\"")
      })
  }
}
