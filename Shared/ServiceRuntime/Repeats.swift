/// When a warning that stays true is said again: at once if it says something new, else every half a minute.
///
/// Who tries again twice a second would fill the log otherwise, and hide what else it says.
public struct Repeats {
  private let pause: Duration
  private var last: (text: String, at: ContinuousClock.Instant)?

  /// Nothing was said yet.
  public init(every pause: Duration = .seconds(30)) { self.pause = pause }

  /// Whether a text is to be said now; then it counts as said.
  public mutating func isDue(_ text: String, at now: ContinuousClock.Instant = .now) -> Bool {
    if let last, last.text == text, now - last.at < pause { return false }
    last = (text, now)
    return true
  }
}
