import FoundationEssentials
import ServiceRuntime
import TestSupport
import Testing

@Suite struct `Clocks` {
  private func temporaryPath() -> String {
    TestFolder.path("clock")
  }

  private func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  /// How far the clock stands from the machine's, within a second.
  private func isShifted(_ clock: ShiftedClock, by milliseconds: Int64) -> Bool {
    abs(clock.now() - SystemClock().now() - milliseconds) < 1000
  }

  @Test func `the machine's clock is in UTC milliseconds`() {
    let now = SystemClock().now()
    #expect(now > 1_700_000_000_000 && now < 10_000_000_000_000)
    #expect(SystemClock().now() >= now)
  }

  @Test func `a shifted clock follows its file`() async throws {
    let path = temporaryPath()
    let clock = ShiftedClock(path: path)
    #expect(isShifted(clock, by: 0))
    let month: Int64 = 30 * 24 * 3600 * 1000
    try write("\(month)\n", to: path)
    #expect(await eventually { isShifted(clock, by: month) })
    try write("-5000", to: path)
    #expect(await eventually { isShifted(clock, by: -5000) })
  }

  @Test(arguments: ["", "soon", "12 months"])
  func `a file in the middle of being written leaves the shift as it was`(_ text: String)
    async throws
  {
    let path = temporaryPath()
    try write("60000", to: path)
    let clock = ShiftedClock(path: path)
    #expect(isShifted(clock, by: 60000))
    try write(text, to: path)
    // Past the 20 ms in which it does not look.
    let later = Deadline.after(.milliseconds(60))
    #expect(
      await eventually {
        _ = clock.now(); return later.hasPassed
      })
    #expect(isShifted(clock, by: 60000))
  }

  @Test func `a manual clock moves only by hand`() {
    let clock = ManualClock(1000)
    #expect(clock.now() == 1000)
    clock.advance(by: 500)
    #expect(clock.now() == 1500)
    clock.set(7)
    #expect(clock.now() == 7)
  }

  @Test(arguments: [
    (Int64(0), "1970-01-01T00:00:00.000Z"), (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
    (951_782_399_999, "2000-02-28T23:59:59.999Z"), (1_709_164_800_001, "2024-02-29T00:00:00.001Z"),
  ])
  func `times are written for people to the millisecond`(_ time: Int64, _ text: String) {
    #expect(rfc3339(time) == text)
  }

  @Test func `days around every turn of a year and month are written as Foundation writes them`() {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    // After 1582, as Foundation has the Julian calendar before.
    for day in stride(from: Int64(-140_000), to: 146_097, by: 13 * 7) {
      for offset in Int64(-1)...1 {
        let date = Date(timeIntervalSince1970: Double((day + offset) * 86_400))
        #expect(rfc3339((day + offset) * 86_400_000) == date.formatted(style))
      }
    }
    for year in stride(from: 1600, through: 2400, by: 4) {
      let leap = "\(year)-02-29T00:00:00.000Z"
      guard let date = try? style.parse(leap) else { continue }
      let milliseconds = Int64(date.timeIntervalSince1970) * 1000
      #expect(rfc3339(milliseconds) == date.formatted(style))
      #expect(rfc3339(milliseconds + 86_400_000) == (date + 86_400).formatted(style))
    }
  }
}
