import AppStore
import Cryptography

/// Notifications on their way, a value without input or output: their order, retries and history.
struct Mailbox: Sendable {
  /// The bounds and rules.
  struct Rules: Sendable, Equatable {
    var environment = AppEnvironment.sandbox
    var hasURL = true
    /// Lanes keep order within themselves; all notifications of a lineage share one.
    var lanes = 1
    /// Notifications that are not settled, at most.
    var queueLimit = 10_000
    /// Settled ones that are kept.
    var historyLimit = 5_000

    /// Hours between attempts (App Store Server Notifications V2, Production only).
    static let retryHours: [Int64] = [1, 12, 24, 48, 72]
  }

  let rules: Rules
  private(set) var isPaused = false
  /// Whether every attempt fails before it reaches the URL.
  private(set) var isOutage = false
  private var deliveries: [UInt64: Delivery] = [:]
  private var numbers: [String: UInt64] = [:]
  private var lanes: [Fifo<UInt64>]
  private var retries: [DueQueue]
  private var settled = Fifo<UInt64>()
  private var sending = 0
  private var posted: UInt64 = 0

  init(rules: Rules) {
    self.rules = rules
    lanes = Array(repeating: Fifo(), count: max(1, rules.lanes))
    retries = Array(repeating: DueQueue(), count: max(1, rules.lanes))
  }

  /// Notifications that are not settled.
  var openCount: Int { deliveries.count - settled.count }
  var hasRoom: Bool { openCount < rules.queueLimit }

  /// Puts a notification behind those before it; its UUID.
  mutating func post(_ happening: Happening) -> String {
    posted += 1
    let uuid = UUIDs.version4()
    let lane = Int(UInt64(happening.lineage) ?? 0) % lanes.count
    var delivery = Delivery(number: posted, uuid: uuid, happening: happening, lane: lane)
    numbers[uuid] = posted
    if rules.hasURL {
      deliveries[posted] = delivery
      lanes[lane].append(posted)
    } else {
      delivery.state = .unsent
      deliveries[posted] = delivery
      settle(posted)
    }
    return uuid
  }

  /// The next attempt of a lane that is due now; nil if there is none, or all is held back.
  mutating func take(lane: Int, now: Int64) -> Delivery? {
    guard !isPaused else { return nil }
    if let entry = retries[lane].first, entry.time <= now {
      retries[lane].removeFirst()
      return begin(entry.key)
    }
    return lanes[lane].popFirst().flatMap { begin($0) }
  }

  private mutating func begin(_ number: UInt64) -> Delivery? {
    guard var delivery = deliveries[number] else { return nil }
    sending += 1
    delivery.state = .sending
    delivery.nextAttempt = nil
    deliveries[number] = delivery
    return delivery
  }

  /// Keeps the signed text, unless there is one already, and gives the one that counts.
  mutating func keep(_ signedPayload: String, of number: UInt64) -> String {
    let kept = deliveries[number]?.signedPayload ?? signedPayload
    deliveries[number]?.signedPayload = kept
    return kept
  }

  /// Records how an attempt went, and what follows.
  mutating func record(_ attempt: SendAttempt, of number: UInt64) {
    if !attempt.isRedelivery { sending -= 1 }
    guard var delivery = deliveries[number] else { return }
    delivery.attempts.append(attempt)
    // A person who redelivers for ever must not fill the memory.
    if delivery.attempts.count > 100 { delivery.attempts.remove(at: 50) }
    if attempt.isRedelivery {
      let isMended = delivery.state == .failed && attempt.sendAttemptResult == .success
      if isMended { delivery.state = .delivered }
      deliveries[number] = delivery
      return
    }
    delivery.state = state(after: attempt, &delivery)
    deliveries[number] = delivery
    if let next = delivery.nextAttempt {
      retries[delivery.lane].insert(DueQueue.Entry(time: next, key: number))
    } else {
      settle(number)
    }
  }

  private func state(after attempt: SendAttempt, _ delivery: inout Delivery) -> Delivery.State {
    if attempt.sendAttemptResult == .success { return .delivered }
    let made = delivery.attempts.count { !$0.isRedelivery }
    guard rules.environment == .production, made <= Rules.retryHours.count else { return .failed }
    delivery.nextAttempt = attempt.attemptDate + Rules.retryHours[made - 1] * 3_600_000
    return .retrying
  }

  private mutating func settle(_ number: UInt64) {
    settled.append(number)
    while settled.count > rules.historyLimit, let oldest = settled.popFirst() {
      if let gone = deliveries.removeValue(forKey: oldest) { numbers[gone.uuid] = nil }
    }
  }

  /// Lets attempts fail as if the receiver could not be reached, or lets them pass again.
  mutating func setOutage(_ isOutage: Bool) { self.isOutage = isOutage }

  /// Holds back all attempts, or lets them go.
  mutating func setPaused(_ isPaused: Bool) { self.isPaused = isPaused }

  /// When the next retry is due; nil if there is none, or all is held back.
  var nextRetry: Int64? { isPaused ? nil : retries.compactMap(\.first?.time).min() }

  /// Whether nothing is under way or due by then.
  func isQuiet(at now: Int64) -> Bool {
    guard sending == 0 else { return false }
    guard !isPaused else { return true }
    return lanes.allSatisfy(\.isEmpty) && nextRetry.map { $0 > now } ?? true
  }

  func delivery(_ uuid: String) -> Delivery? { numbers[uuid].flatMap { deliveries[$0] } }

  /// All that are kept, oldest first.
  var all: [Delivery] { deliveries.values.sorted { $0.number < $1.number } }
}
