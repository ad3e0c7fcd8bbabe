import AppStore
import HTTPClient
import ServiceRuntime
import Synchronization

/// Carries notifications to their URL, each lane in its order.
final class Courier: Service {
  let name = "courier"
  private let simulator: Simulator
  private let client: HTTPClient
  private let url: String?
  private let timeout: Duration
  private let log: Log
  private let isStopping = Atomic<Bool>(false)
  private let ended = Completion<Void>()

  /// How late a retry may be by the machine's clock.
  private static let look: Duration = .milliseconds(250)

  init(simulator: Simulator, client: HTTPClient, url: String?, timeout: Duration, log: Log) {
    self.simulator = simulator
    self.client = client
    self.url = url
    self.timeout = timeout
    self.log = log
  }

  func run() async {
    await withTaskGroup(of: Void.self) { group in
      for lane in 0..<simulator.lanes {
        group.addTask { [self] in await work(lane) }
      }
    }
    ended.complete(with: ())
  }

  func stop(by deadline: Deadline) async {
    isStopping.store(true, ordering: .releasing)
    simulator.beginStopping()
    // A receiver that hangs is not worth the whole time; what was not sent is lost with the books.
    await client.close(by: min(deadline, .after(.seconds(1))))
    await ended.value()
  }

  private func work(_ lane: Int) async {
    while !isStopping.load(ordering: .acquiring) {
      let ticket = simulator.bells.enter(.lane(lane))
      guard let delivery = simulator.takeDelivery(lane: lane) else {
        // Whoever stops the bells goes on to stop us; a wait that no longer waits would keep a core
        // busy until then, and several lanes would leave none for the stopping.
        if await simulator.bells.wait(ticket, atMost: Self.look) == .stopping { break }
        continue
      }
      simulator.bells.leave(ticket)
      _ = await attempt(delivery, isRedelivery: false)
    }
  }

  /// An attempt that does not reach its URL, as an outage was asked for.
  private func fail(_ delivery: Delivery, _ isRedelivery: Bool) -> SendAttempt {
    let attempt = SendAttempt(
      attemptDate: simulator.clock.now(), sendAttemptResult: .socketIssue, status: nil,
      isRedelivery: isRedelivery)
    simulator.record(attempt, of: delivery)
    return attempt
  }

  /// One attempt, recorded.
  func attempt(_ delivery: Delivery, isRedelivery: Bool) async -> SendAttempt {
    var status: Int?
    let result: SendAttemptResult
    do {
      let signed = try simulator.signedPayload(of: delivery)
      if simulator.isOutage { return fail(delivery, isRedelivery) }
      let request = HTTPRequest(
        method: "POST", url: url ?? "", headers: [("Content-Type", "application/json")],
        body: StoreSigner.body(signed), timeout: timeout)
      let response = try await client.send(request)
      status = response.status
      result = SendAttemptResult(status: response.status)
    } catch let error as HTTPClientError {
      result = SendAttemptResult(error.kind)
    } catch {
      log.error("a notification could not be signed", ["error": LogValue(error)])
      result = .other
    }
    let attempt = SendAttempt(
      attemptDate: simulator.clock.now(), sendAttemptResult: result, status: status,
      isRedelivery: isRedelivery)
    simulator.record(attempt, of: delivery)
    log.debug(
      "delivered a notification",
      [
        "type": .string(delivery.happening.type.rawValue), "uuid": .string(delivery.uuid),
        "result": .string(result.rawValue), "attempt": LogValue(delivery.attempts.count + 1),
      ])
    return attempt
  }
}
