import FoundationEssentials
import Glibc
import Pipeline
import Processes
import ServiceRuntime
import Synchronization
import Testing

@testable import purser

// A stack whose services are shards.
extension Way {
  /// Starts broker and simulator alone.
  static func startEmpty() async throws -> Way {
    try await start(
      extra: { _ in
        [
          "app-store-simulator": [
            "SIMULATOR_NOTIFICATION_LANES": "4", "SIMULATOR_NOTIFICATION_HISTORY": "10000",
          ]
        ]
      }, services: [])
  }

  /// Starts all processes of a layout and waits until they are ready.
  func begin(_ layout: ShardLayout) async throws {
    for folder in layout.folders(plan) {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    self.layout.withLock { $0 = layout }
    for name in layout.all { try await launch(name) }
    for name in layout.all { try await ready(name) }
  }

  /// Stops all services, each as it should.
  func halt() async throws {
    for name in layout.withLock({ $0 }).all {
      let ending = try await end(name, by: SIGTERM)
      #expect(ending == .exit(0), "\(name): \(lastLines(of: name))")
    }
  }

  /// Runs `purser reshard` from the layout that was, or some of its folders, to another one.
  func reshard(to layout: ShardLayout, leavingOut count: Int = 0) async throws
    -> ChildProcess.Ending
  {
    let from = self.layout.withLock { $0 }.folders(plan).dropLast(count).joined(separator: ",")
    let to = layout.folders(plan).joined(separator: ",")
    let service = try program("entitlement-service")
    let program = ChildProcess.Program(
      name: "purser", executable: "\(plan.places.executables)/purser",
      arguments: ["reshard", "--from", from, "--to", to], environment: service.environment,
      logFile: plan.file("reshard.log"))
    let child = try await offPool { try ChildProcess(program) }
    return await child.ending.value()
  }

  /// The same, which must go well.
  func reshardWhole(to layout: ShardLayout) async throws {
    guard try await reshard(to: layout) == .exit(0) else {
      throw NotInTime(description: "not re-sharded: \(lastLines(of: "reshard"))")
    }
  }

  /// The shard of a customer among so many.
  static func home(of customer: String, of count: Int) -> Int {
    Shard(ordinal: 0, count: count, partitions: 12).home(of: customer)
  }
}
