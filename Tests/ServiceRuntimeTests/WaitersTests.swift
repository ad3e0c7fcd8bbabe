import ServiceRuntime
import Testing

@Suite("Waits") struct WaitersTests {
  @Test func `who waits is woken by the key and by no other`() async {
    let waiters = Waiters<String>()
    let ticket = waiters.enter("a")
    waiters.notify("b")
    waiters.notify("a")
    #expect(await waiters.wait(ticket, atMost: .seconds(10)) == .notified)
    #expect(waiters.count == 0)
  }

  @Test func `a notice between taking the place and waiting is not missed`() async {
    let waiters = Waiters<String>()
    let ticket = waiters.enter("a")
    waiters.notify("a")
    #expect(await waiters.wait(ticket, atMost: .seconds(10)) == .notified)
  }

  @Test func `the time of a wait is bounded, and the place is free again`() async {
    let waiters = Waiters<String>(limitPerKey: 1)
    let first = await waiters.wait(waiters.enter("a"), atMost: .milliseconds(5))
    #expect(first == .timedOut)
    #expect(waiters.count == 0)
    waiters.leave(waiters.enter("a"))
    #expect(waiters.count == 0)
  }

  @Test func `all, a key and a group are bounded, and who is refused is told at once`() async {
    let waiters = Waiters<Int>(limit: 4, limitPerKey: 2, limitPerGroup: 3)
    let tickets = [
      waiters.enter(1, group: "alice"), waiters.enter(1, group: "alice"),
      waiters.enter(2, group: "alice"), waiters.enter(3, group: "bob"),
    ]
    func refused(_ key: Int, _ group: String) async -> Bool {
      await waiters.wait(waiters.enter(key, group: group), atMost: .milliseconds(5)) == .refused
    }
    #expect(await refused(5, "carol"), "all places are taken")
    waiters.leave(tickets[3])
    #expect(await refused(1, "bob"), "the key has its two")
    #expect(await refused(4, "alice"), "alice has her three")
    #expect(await !refused(4, "bob"))
    waiters.notify(1)
    #expect(await !refused(4, "alice"), "alice has places again")
    waiters.leave(tickets[2])
    #expect(waiters.count == 0)
  }

  @Test func `stopping wakes everyone and lets nobody wait any more`() async {
    let waiters = Waiters<String>()
    let ticket = waiters.enter("a", group: "g")
    waiters.stopAll()
    #expect(await waiters.wait(ticket, atMost: .seconds(10)) == .stopping)
    #expect(await waiters.wait(waiters.enter("b"), atMost: .seconds(10)) == .stopping)
  }
}
