import AppStore
import ServiceRuntime

/// What the simulator counts.
struct SimulatorMetrics: Sendable {
  private let metrics: Metrics

  init(_ metrics: Metrics) { self.metrics = metrics }

  func commanded(_ happening: Happening) {
    metrics.counter(
      "simulator_happenings_total", "What the simulated App Store did.",
      labels: [
        "type": happening.type.rawValue, "subtype": happening.subtype?.rawValue ?? "",
      ]
    ).add()
  }

  func attempted(_ attempt: SendAttempt) {
    metrics.counter(
      "simulator_send_attempts_total", "Attempts to deliver a notification.",
      labels: ["result": attempt.sendAttemptResult.rawValue]
    ).add()
  }
}
