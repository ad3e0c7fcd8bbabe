import AppStore
import Events
import Kafka
import Pipeline
import SQLite
import ServiceRuntime

/// Reads `iap.entitlements` for what is to be told to Apple about purchases whose money is asked back.
struct NoteConsumption: RecordHandler {
  func prepare(_ record: ReceivedRecord) throws -> RecordWork? {
    guard
      let report = try record.decode(ConsumptionReported.self, type: .consumptionReported)
    else { return nil }
    return { change in try ConsumptionAnswers.note(report, change) }
  }
}

/// Requests of Apple, each answered once.
enum ConsumptionAnswers {
  /// Apple waits so long for an answer.
  static let window: Int64 = 12 * 3_600_000

  enum State: String, Sendable {
    case waiting
    case sent
    /// The customer did not agree: nothing may be sent.
    case withoutConsent = "without-consent"
    /// Apple's 12 hours were over.
    case late
    case refused
  }

  struct Due: Sendable {
    let report: ConsumptionReported
    let tries: Int64
  }

  /// The first report with the customer's consent counts; those behind it change nothing.
  ///
  /// The report is kept as long as it is to be sent, as it names the customer.
  static func note(_ report: ConsumptionReported, _ change: Change) throws {
    let state: State = report.customerConsented ? .waiting : .withoutConsent
    let event = state == .waiting ? try EventJSON.encode(report) : []
    try change.transaction.run(
      """
      INSERT INTO consumption_answers (request, event, state, next_at) VALUES (?, ?, ?, ?)
      ON CONFLICT (request) DO UPDATE SET event = excluded.event, state = excluded.state
      WHERE consumption_answers.state = 'without-consent'
      """, report.request, event, state.rawValue, change.now)
  }

  static func due(_ reader: Reader, by now: Int64) throws -> [Due] {
    try reader.query(
      """
      SELECT event, tries FROM consumption_answers
      WHERE state = 'waiting' AND next_at <= ? ORDER BY next_at LIMIT 20
      """, now
    ) { row in
      Due(
        report: try EventJSON.decode(ConsumptionReported.self, from: row.blob(0)),
        tries: row.int(1))
    }
  }

  static func end(
    _ request: String, _ state: State, _ detail: String?, _ change: Change
  ) throws {
    try change.transaction.run(
      "UPDATE consumption_answers SET state = ?, detail = ?, event = x'' WHERE request = ?",
      state.rawValue, detail, request)
  }

  /// Of an erased customer nothing is sent any more, and nothing is kept.
  static func forgetErased(_ change: Change) throws {
    let waiting = try change.transaction.query(
      "SELECT event FROM consumption_answers WHERE state = 'waiting'"
    ) { try EventJSON.decode(ConsumptionReported.self, from: $0.blob(0)) }
    for report in waiting
    where try Customers.isErased(change.transaction, report.customer, after: report.requestedAt) {
      try end(report.request, .refused, "the customer was erased", change)
    }
  }

  static func postpone(_ due: Due, _ change: Change) throws {
    let pause = min(Int64(30_000) << min(due.tries, 5), 900_000)
    try change.transaction.run(
      "UPDATE consumption_answers SET tries = tries + 1, next_at = ? WHERE request = ?",
      change.now + pause, due.report.request)
  }
}

/// Tells Apple about the use of a purchase, once for each of its requests and only with consent.
///
/// A kill between Apple's answer and the COMMIT sends the same words again, to the same address
/// (docs/decisions/0050).
struct SendConsumption: AppleJob {
  let name = "consumption"
  let lane: AppleLane? = nil
  let apple: AppleAPI
  let store: Store
  let metrics: Metrics

  func step() async throws -> AppleStep {
    let now = store.clock.now()
    let due = try await store.readers.read { try ConsumptionAnswers.due($0, by: now) }
    guard !due.isEmpty else { return .rest(.seconds(1)) }
    for one in due { try await send(one, now) }
    return .again
  }

  private func send(_ due: ConsumptionAnswers.Due, _ now: Int64) async throws {
    let report = due.report
    guard now < report.requestedAt + ConsumptionAnswers.window else {
      return try await end(due, .late, "Apple's 12 hours were over")
    }
    let lane = AppleLane(bundleId: report.bundleId, environment: report.environment)
    guard let client = apple.client(lane) else {
      return try await end(due, .refused, "no API key is configured for \(lane)")
    }
    var information = ConsumptionInformation(
      customerConsented: report.customerConsented,
      sampleContentProvided: report.sampleContentProvided,
      deliveryStatus: DeliveryStatus(rawValue: report.deliveryStatus))
    information.consumptionPercentage = report.consumptionPercentage.map { Int32(clamping: $0) }
    information.refundPreference = report.refundPreference.map { RefundPreference(rawValue: $0) }
    let result = await client.result(of: try .consumption(report.transactionId, information))
    if case .failure(let error) = result {
      guard error.isVerdict else {
        try await store.change { try ConsumptionAnswers.postpone(due, $0) }
        // What is wrong with the key or the way is wrong for all: the job pauses.
        throw error
      }
      return try await end(due, .refused, error.description)
    }
    try await end(due, .sent, nil)
  }

  private func end(
    _ due: ConsumptionAnswers.Due, _ state: ConsumptionAnswers.State, _ detail: String?
  ) async throws {
    let sent = metrics.counter(
      "consumption_answers_total", "Apple's requests for consumption information, by their end.",
      labels: ["result": state.rawValue])
    try await store.change { change in
      change.count(sent)
      try ConsumptionAnswers.end(due.report.request, state, detail, change)
    }
  }
}
