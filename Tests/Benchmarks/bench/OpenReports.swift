import Kafka
import ServiceRuntime
import Synchronization

/// Counts records that still owe a delivery report.
final class OpenReports: Sendable {
  private struct State {
    var open = 0
    var failure: KafkaError?
  }

  private let state = Mutex(State())
  private let changed = Wake()

  func begin() { state.withLock { $0.open += 1 } }

  func end(_ result: DeliveryResult) {
    state.withLock { state in
      state.open -= 1
      if case .failure(let error) = result { state.failure = error }
    }
    changed.signal()
  }

  func waitForOne() { changed.wait(atMost: .milliseconds(20)) }

  func waitForAll() throws {
    while state.withLock({ $0.open }) > 0 { waitForOne() }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }
}
