import Events
import Kafka
import SQLite
import ServiceRuntime
import Synchronization
import Testing

@testable import Pipeline

/// Fires what stands in the table `due`, and writes the time into `seen`.
private struct DueJob: TimerJob {
  let name = "due"
  let inputs: Set<Topic>
  /// How often the timers asked for the next time.
  let asked = Metrics().counter("asked", "")

  func nextDue(_ reader: Reader) throws -> Int64? {
    asked.add()
    return try reader.first("SELECT min(at) FROM due") { $0.optionalInt(0) } ?? nil
  }

  func fire(_ change: Change, dueBy: Int64, limit: Int) throws -> Int {
    let count = try change.transaction.run("DELETE FROM due WHERE at <= ?", dueBy)
    try change.transaction.run(
      "INSERT INTO seen (topic, key, text) VALUES ('timer', 'timer', ?)", "fired \(count)")
    return count
  }
}

@Suite(.timeLimit(.minutes(2)))
struct `Timer jobs` {
  private func setDue(_ process: TestProcess, at time: Int64) async throws {
    try await process.store.change { change in
      try change.transaction.run("INSERT INTO due (at) VALUES (?)", time)
      change.timersAreDue(at: time)
    }
  }

  @Test func `fire at their time and not before`() async throws {
    let world = try await World(topics: [.orders])
    let job = DueJob(inputs: [.orders])
    let process = try TestProcess(world, inputs: [.orders: TestHandler.seeing], jobs: [job])
    #expect(await eventually { process.processor?.isCaughtUp == true })
    try await setDue(process, at: start + 1000)
    world.clock.set(start + 999)
    // Asked again and again, so the timers have looked at the clock since.
    let before = job.asked.value
    #expect(await eventually { job.asked.value >= before + 5 })
    #expect(try await process.seen() == [])
    world.clock.set(start + 1000)
    #expect(try await eventually { try await process.seen() == ["fired 1"] })
    let fired = process.metrics.counter("timers_fired_total", "", labels: ["task": "due"])
    #expect(await eventually { fired.value == 1 })
    #expect(
      await eventually {
        process.metrics.text().contains("timers_overdue_seconds{task=\"due\"} 0.0")
      })
    #expect(process.metrics.text().contains("timers_late_seconds_count{task=\"due\"} 1"))
    await process.stop()
  }

  @Test func `are woken by what falls due before all that they know of, and by nothing else`() {
    let signal = TimersSignal()
    #expect(signal.isDue(at: start + 90_000))
    signal.look()
    // Committed while they look: they may have looked there already.
    #expect(signal.isDue(at: start + 90_000))
    signal.looked(nextDue: start + 60_000)
    #expect(!signal.isDue(at: start + 90_000))
    #expect(!signal.isDue(at: start + 60_000))
    #expect(signal.isDue(at: start + 59_999))
  }

  @Test func `fire at an earlier time that a change brings while they sleep`() async throws {
    let world = try await World(topics: [.orders])
    let process = try TestProcess(
      world, inputs: [.orders: TestHandler.seeing], jobs: [DueJob(inputs: [])])
    try await setDue(process, at: start + 60_000)
    try await setDue(process, at: start + 90_000)
    try await setDue(process, at: start)
    #expect(try await eventually { try await process.seen() == ["fired 1"] })
    world.clock.set(start + 90_000)
    #expect(try await eventually { try await process.seen() == ["fired 1", "fired 2"] })
    await process.stop()
  }

  @Test func `speak only when everything written before their time is read`() async throws {
    let world = try await World(topics: [.orders])
    let gate = Completion<Void>()
    let handler = TestHandler { record in
      gate.wait()
      return { change in try change.see(record) }
    }
    let process = try TestProcess(
      world, inputs: [.orders: handler], jobs: [DueJob(inputs: [.orders])])
    #expect(await eventually { process.processor?.isCaughtUp == true })
    try await world.produce([("k", "written before")], to: .orders)
    try await setDue(process, at: start)
    #expect(
      await eventually {
        process.metrics.counter("timers_held_total", "", labels: ["task": "due"]).value >= 3
      })
    #expect(try await process.seen() == [])
    world.clock.set(start + 90_000)
    #expect(process.metrics.text().contains("timers_overdue_seconds{task=\"due\"} 90.0"))
    gate.complete(with: ())
    #expect(
      try await eventually { try await process.seen() == ["written before", "fired 1"] })
    await process.stop()
  }

  @Test func `come to speak although the log grows all the time`() async throws {
    let world = try await World(partitions: 1, topics: [.orders])
    let isSlow = Atomic<Bool>(true)
    let handler = TestHandler { record in
      { change in
        // Slower than what is written: the end runs away.
        if isSlow.load(ordering: .acquiring) {
          let pause = Completion<Void>()
          _ = pause.wait(by: .after(.milliseconds(15)))
        }
        try change.see(record)
      }
    }
    let process = try TestProcess(
      world, inputs: [.orders: handler], jobs: [DueJob(inputs: [.orders])])
    #expect(await eventually { process.processor?.isCaughtUp == true })
    let writing = Task {
      var number = 0
      while !Task.isCancelled {
        try await world.produce((0..<20).map { _ in ("k", "x") }, to: .orders)
        number += 20
      }
      return number
    }
    try await setDue(process, at: start)
    let hasFired = try await eventually(within: 30) {
      try await process.seen(key: "timer") == ["fired 1"]
    }
    writing.cancel()
    isSlow.store(false, ordering: .releasing)
    let written = try await writing.value
    #expect(hasFired)
    #expect(written > 0)
    await process.stop()
  }

  @Test func `are silent while the broker is away`() async throws {
    let mock = try MockCluster()
    let world = try await World(mock: mock, topics: [.orders])
    let process = try TestProcess(
      world, inputs: [.orders: TestHandler.seeing], jobs: [DueJob(inputs: [.orders])])
    #expect(await eventually { process.processor?.isCaughtUp == true })
    try mock.setBroker(1, isUp: false)
    try await setDue(process, at: start)
    #expect(
      await eventually {
        process.metrics.counter("timers_held_total", "", labels: ["task": "due"]).value >= 2
      })
    #expect(try await process.seen() == [])
    try mock.setBroker(1, isUp: true)
    #expect(try await eventually { try await process.seen() == ["fired 1"] })
    await process.stop()
  }

  @Test func `speak without a broker when they depend on no topic`() async throws {
    let mock = try MockCluster()
    let world = try await World(mock: mock, topics: [.orders])
    try mock.setBroker(1, isUp: false)
    let process = try TestProcess(
      world, inputs: [.orders: TestHandler.seeing], jobs: [DueJob(inputs: [])])
    try await setDue(process, at: start)
    #expect(try await eventually { try await process.seen() == ["fired 1"] })
    await process.stop()
  }
}
