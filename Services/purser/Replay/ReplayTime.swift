import ServiceRuntime

extension Arguments {
  /// A time, given as such or as an age; UTC milliseconds.
  func time(_ name: String, now: Int64) throws(UsageError) -> Int64? {
    guard let text = text(name) else { return nil }
    if let age = StartingPlace.age(text) { return now - age }
    if let time = milliseconds(rfc3339: text) { return time }
    throw error(
      "\(name) is '\(text)'; give a time such as 2026-05-01T12:00:00Z, or an age such as 2h")
  }
}

/// Says on standard error how far a reading is, every few seconds.
final class ReplayProgress {
  private let began = ContinuousClock.now
  private var next = Deadline.after(.seconds(3))
  private var read = 0

  func add(_ what: String, left: Int64) {
    read += 1
    guard read.isMultiple(of: 256), next.hasPassed else { return }
    next = .after(.seconds(3))
    let seconds = max(0.001, (ContinuousClock.now - began) / Duration.seconds(1))
    let rate = Double(read) / seconds
    Terminal.complain(
      "purser: \(what): \(read) records read, \(left) left in this topic, \(Int(rate)) a second, "
        + "about \(Int(Double(left) / max(1, rate))) s to go")
  }
}
