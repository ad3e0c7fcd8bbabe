import ServiceRuntime

/// Waits until the condition holds; false when it has not after ten seconds.
func eventually(_ condition: () -> Bool) async -> Bool {
  let deadline = Deadline.after(.seconds(10))
  while !condition() {
    if deadline.hasPassed { return false }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return true
}
