import FoundationEssentials
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@Suite("Files read again")
struct ReloadableTests {
  private struct NotANumber: Error {}

  private let folder: String
  private var path: String { "\(folder)/number" }

  init() throws {
    folder = TestFolder.path("reload")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try write("1")
  }

  private func write(_ text: String, to name: String = "number") throws {
    try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)"), options: .atomic)
  }

  /// A whole number, or the name of another file that holds one.
  private func reloadable() throws -> Reloadable<Int> {
    let folder = folder
    return try Reloadable("number") { note in
      var path = "\(folder)/number"
      while true {
        note(path)
        let text = String(
          decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        if let number = Int(text) { return number }
        guard text.hasPrefix("see ") else { throw NotANumber() }
        path = "\(folder)/\(text.dropFirst(4))"
      }
    }
  }

  private func watching(
    _ value: Reloadable<Int>, _ metrics: Metrics, _ body: () async throws -> Void
  ) async throws {
    let watch = FileWatch([value], every: .milliseconds(5), log: .silent, metrics: metrics)
    async let running: Void = watch.run()
    let result: Result<Void, any Error>
    do {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    await watch.stop(by: .after(.seconds(5)))
    await running
    try result.get()
    try FileManager.default.removeItem(atPath: folder)
  }

  @Test func `a changed file is read, and whoever asked is told`() async throws {
    let value = try reloadable()
    let told = Mutex<[Int]>([])
    value.whenChanged { new in told.withLock { $0.append(new) } }
    #expect(value.value == 1)
    try await watching(value, Metrics()) {
      try write("2")
      #expect(await eventually { value.value == 2 })
    }
    #expect(told.withLock { $0 } == [2])
  }

  @Test func `a bad file is refused, counted, and the next good one is taken`() async throws {
    let value = try reloadable()
    let metrics = Metrics()
    let refused = metrics.gauge("file_reload_refused", "", labels: ["what": "number"])
    try await watching(value, metrics) {
      try write("many")
      #expect(await eventually { refused.value == 1 })
      #expect(value.value == 1)
      try write("3")
      #expect(await eventually { value.value == 3 })
      #expect(await eventually { refused.value == 0 })
    }
    let failures = metrics.counter("file_reload_failures_total", "", labels: ["what": "number"])
    #expect(failures.value == 1)
  }

  @Test func `a file that only a refused one named is watched too`() async throws {
    let value = try reloadable()
    let metrics = Metrics()
    let refused = metrics.gauge("file_reload_refused", "", labels: ["what": "number"])
    try await watching(value, metrics) {
      try write("see other")
      #expect(await eventually { refused.value == 1 })
      try write("7", to: "other")
      #expect(await eventually { value.value == 7 })
      try write("8", to: "other")
      #expect(await eventually { value.value == 8 })
    }
  }

  @Test func `a file that vanishes leaves the value as it was`() async throws {
    let value = try reloadable()
    let metrics = Metrics()
    let refused = metrics.gauge("file_reload_refused", "", labels: ["what": "number"])
    try await watching(value, metrics) {
      try FileManager.default.removeItem(atPath: path)
      #expect(await eventually { refused.value == 1 })
      #expect(value.value == 1)
    }
  }

  @Test func `a first reading that fails is an error`() throws {
    try write("many")
    #expect(throws: NotANumber.self) { try reloadable() }
    try FileManager.default.removeItem(atPath: folder)
  }
}
