import Events
import Kafka
import ServiceRuntime
import Synchronization

/// Another backend: reads `iap.entitlements` and checks that every customer's versions run without
/// gap or repeat.
final class Subscriber: Sendable {
  struct State {
    var count = 0
    var activated = 0
    var credited = 0
    var versions: [String: Int64] = [:]
    /// Versions that did not follow the one before.
    var breaks: [String] = []
    /// When the newest event of a customer was read, for those who ask.
    var arrivals: [String: ContinuousClock.Instant] = [:]
    var fault: String?
  }

  private let consumer: Consumer
  private let state = Mutex(State())
  private let isStopping = Atomic<Bool>(false)
  private let arrived = Wake()
  private let thread = Mutex<DedicatedThread?>(nil)

  /// Begins to read where the topic ends now.
  init(_ bench: Bench, topic: String? = nil) throws {
    let name = topic ?? bench.topics.name(of: .entitlements)
    consumer = try Consumer(
      bench.kafka, groupID: "bench", name: "bench-subscriber", log: .silent, metrics: Metrics())
    var positions: [TopicPartition: Int64] = [:]
    for number in 0..<Int32(TopicNames.defaultPartitions) {
      let partition = TopicPartition(name, number)
      positions[partition] = try consumer.watermarks(partition, timeout: .seconds(10)).high
    }
    try consumer.assign(positions)
    let thread = DedicatedThread(name: "subscriber") { [self] in
      while !isStopping.load(ordering: .acquiring) { read() }
    }
    self.thread.withLock { $0 = thread }
  }

  private func read() {
    do {
      let records = try consumer.poll(maximum: 1000, timeout: .milliseconds(200))
      guard !records.isEmpty else { return }
      let now = ContinuousClock.now
      state.withLock { state in
        for record in records { Self.note(record, now, &state) }
      }
      arrived.signal()
    } catch {
      state.withLock { $0.fault = "\(error)" }
    }
  }

  private static func note(
    _ record: ReceivedRecord, _ now: ContinuousClock.Instant, _ state: inout State
  ) {
    let customer = String(decoding: record.key ?? [], as: UTF8.self)
    state.count += 1
    state.arrivals[customer] = now
    switch record.header("ce_type").map(EventType.init(rawValue:)) {
    case .entitlementActivated?: state.activated += 1
    case .balanceChanged?: state.credited += 1
    default: break
    }
    guard let value = record.value, let version = number(after: "\"version\":", in: value) else {
      return
    }
    let before = state.versions[customer] ?? 0
    if version != before + 1 { state.breaks.append("\(customer) \(before) → \(version)") }
    state.versions[customer] = version
  }

  private static func number(after mark: String, in bytes: [UInt8]) -> Int64? {
    guard let start = bytes[...].firstRange(of: Array(mark.utf8))?.upperBound else { return nil }
    let digits = bytes[start...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return Int64(String(decoding: digits, as: UTF8.self))
  }

  var snapshot: State { state.withLock { $0 } }
  var count: Int { state.withLock { $0.count } }

  /// Waits for the first event of a customer; gives when it was read.
  func arrival(of customer: String, within seconds: Int64) throws -> ContinuousClock.Instant {
    let deadline = Deadline.after(.seconds(seconds))
    while !deadline.hasPassed {
      if let arrival = state.withLock({ $0.arrivals[customer] }) { return arrival }
      arrived.wait(atMost: .milliseconds(100))
    }
    throw BenchError("no event for \(customer) within \(seconds) s; \(snapshot.fault ?? "")")
  }

  /// Waits until so many events were read in all; false when they did not come.
  func waitFor(_ count: Int, within seconds: Int64) -> Bool {
    let deadline = Deadline.after(.seconds(seconds))
    while !deadline.hasPassed {
      if self.count >= count { return true }
      arrived.wait(atMost: .milliseconds(100))
    }
    return false
  }

  func close() {
    isStopping.store(true, ordering: .releasing)
    consumer.wake()
    thread.withLock { $0 }?.join()
    consumer.close()
  }
}
