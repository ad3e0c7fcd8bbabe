import Synchronization
import Testing

@testable import ServiceRuntime

@Suite struct `A completion` {
  @Test func `gives the first value to everyone, before and after`() async {
    let completion = Completion<Int>()
    #expect(completion.current == nil)
    let waiting = (0..<10).map { _ in Task { await completion.value() } }
    #expect(completion.complete(with: 1))
    #expect(!completion.complete(with: 2))
    for task in waiting { #expect(await task.value == 1) }
    #expect(await completion.value() == 1)
    #expect(completion.current == 1)
  }

  @Test func `wakes threads and tasks together`() async {
    let completion = Completion<Int>()
    let seen = Mutex<[Int]>([])
    let threads = (0..<4).map { number in
      DedicatedThread(name: "waits-\(number)") {
        let value = completion.wait()
        seen.withLock { $0.append(value) }
      }
    }
    let task = Task { await completion.value() }
    completion.complete(with: 9)
    for thread in threads { await thread.joined() }
    #expect(await task.value == 9)
    #expect(seen.withLock { $0 } == [9, 9, 9, 9])
  }

  @Test func `only one of many completers wins`() async {
    for _ in 0..<50 {
      let completion = Completion<Int>()
      let wins = await withTaskGroup(of: Bool.self) { group in
        for number in 0..<8 { group.addTask { completion.complete(with: number) } }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(wins == 1)
    }
  }

  @Test func `a bounded wait ends without a value and can be repeated`() async {
    let completion = Completion<Int>()
    let results = Mutex<[Int?]>([])
    let thread = DedicatedThread(name: "waits") {
      for limit in [Duration.zero, .milliseconds(5)] {
        let value = completion.wait(by: .after(limit))
        results.withLock { $0.append(value) }
      }
      completion.complete(with: 3)
      let value = completion.wait(by: .after(.zero))
      results.withLock { $0.append(value) }
    }
    await thread.joined()
    #expect(results.withLock { $0 } == [nil, nil, 3])
  }
}

@Suite struct `A deadline` {
  @Test func `counts down and never below zero`() {
    let far = Deadline.after(.seconds(60))
    let past = Deadline.after(.seconds(-1))
    #expect(!far.hasPassed && past.hasPassed)
    #expect(far.remaining > .seconds(50) && far.remaining <= .seconds(60))
    #expect(past.remaining == .zero)
    #expect(past < far)
  }

  @Test(arguments: [
    (Duration.milliseconds(1500), Int64(1500)), (.microseconds(1999), 1), (.zero, 0),
    (.seconds(-5), 0), (.nanoseconds(999_999), 0),
  ])
  func `whole milliseconds round down`(_ duration: Duration, _ milliseconds: Int64) {
    #expect(duration.wholeMilliseconds == milliseconds)
  }

  @Test func `a very distant one does not overflow`() async {
    let completion = Completion<Int>()
    let thread = DedicatedThread(name: "waits") {
      _ = completion.wait(by: .after(.seconds(Int64.max / 1_000_000_000)))
    }
    completion.complete(with: 1)
    await thread.joined()
    #expect(Duration.seconds(Int64.max / 2).inSeconds > 1e18)
  }
}

@Suite struct `A thread of ours` {
  @Test func `can be joined in time or given up on`() async {
    let release = Completion<Void>()
    let held = DedicatedThread(name: "a-name-that-is-longer-than-fifteen") { release.wait() }
    let results = Mutex<[Bool]>([])
    let joiner = DedicatedThread(name: "joiner") {
      let early = held.join(by: .after(.milliseconds(5)))
      release.complete(with: ())
      let late = held.join(by: .after(.seconds(10)))
      results.withLock { $0 = [early, late] }
    }
    await joiner.joined()
    #expect(results.withLock { $0 } == [false, true])
  }
}

@Suite struct `A wait with a time` {
  @Test func `ends with the value that came in time`() async {
    let completion = Completion<Int>()
    async let value = completion.value(atMost: .seconds(60), otherwise: -1)
    completion.complete(with: 7)
    #expect(await value == 7)
    #expect(await completion.value(atMost: .zero, otherwise: -1) == 7)
  }

  @Test func `ends when its time is over, not before, and the late value is the value of all`()
    async
  {
    let completion = Completion<Int>()
    let began = ContinuousClock.now
    #expect(await completion.value(atMost: .milliseconds(50), otherwise: -1) == -1)
    #expect(ContinuousClock.now - began >= .milliseconds(50))
    #expect(!completion.complete(with: 7))
    #expect(completion.current == -1)
  }

  @Test func `an action is handed the value that came in time, or else the late one, once`() async {
    let heard = Mutex<[Int]>([])
    let late = Completion<Void>()
    let (one, other) = (Completion<Int>(), Completion<Int>())
    one.whenDone(atMost: .seconds(60), otherwise: -1) { value in
      heard.withLock { $0.append(value) }
    }
    #expect(heard.withLock { $0 } == [])
    one.complete(with: 7)
    #expect(heard.withLock { $0 } == [7])
    other.whenDone(atMost: .milliseconds(30), otherwise: -1) { value in
      heard.withLock { $0.append(value) }
      late.complete(with: ())
    }
    await late.value()
    other.complete(with: 8)
    #expect(heard.withLock { $0 } == [7, -1])
    one.whenDone { value in heard.withLock { $0.append(value) } }
    #expect(heard.withLock { $0 } == [7, -1, 7])
  }

  @Test func `a shorter wait that begins later ends first`() async {
    let ended = await withTaskGroup(of: Int.self) { group in
      for (number, milliseconds) in [600, 300, 1].enumerated() {
        group.addTask {
          await Completion<Int>().value(atMost: .milliseconds(milliseconds), otherwise: number)
        }
        // The longest is waited for before the next begins.
        try? await Task.sleep(for: .milliseconds(30))
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ended == [2, 1, 0])
  }

  @Test func `thousands of waits that are not needed leave nothing behind`() async {
    let timeouts = Timeouts.shared
    let before = timeouts.count
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<5_000 {
        group.addTask {
          let completion = Completion<Int>()
          async let value = completion.value(atMost: .seconds(3600), otherwise: -1)
          completion.complete(with: 1)
          _ = await value
        }
      }
    }
    // Other tests may wait meanwhile, by the dozen.
    #expect(timeouts.count < before + 1000)
  }
}
