/// A path with placeholders, such as `/v1/orders/{id}`; a placeholder stands for one segment.
struct RoutePattern: Sendable, Hashable {
  enum Part: Sendable, Hashable {
    case literal(String)
    case placeholder(String)
  }

  let text: String
  let parts: [Part]
  /// Whether the path names a customer, by the placeholder `{customer}`.
  let hasCustomer: Bool

  init(_ text: String) {
    precondition(text.hasPrefix("/"), "the route \(text) must begin with a slash")
    self.text = text
    parts = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { part in
      part.hasPrefix("{") && part.hasSuffix("}")
        ? .placeholder(String(part.dropFirst().dropLast())) : .literal(String(part))
    }
    hasCustomer = parts.contains(.placeholder("customer"))
  }

  /// Whether the segments fit; empty ones never fit a placeholder.
  func matches(_ segments: [String]) -> Bool {
    guard segments.count == parts.count else { return false }
    for (segment, part) in zip(segments, parts) {
      switch part {
      case .literal(let text): guard segment == text else { return false }
      case .placeholder: guard !segment.isEmpty else { return false }
      }
    }
    return true
  }

  /// What the placeholders stand for, given segments that fit.
  func parameters(_ segments: [String]) -> [String: String] {
    var parameters: [String: String] = [:]
    for (segment, part) in zip(segments, parts) {
      if case .placeholder(let name) = part { parameters[name] = segment }
    }
    return parameters
  }

  /// Whether this pattern is tried first: a literal wins where the other has a placeholder.
  func precedes(_ other: RoutePattern) -> Bool {
    for (mine, theirs) in zip(parts, other.parts) {
      switch (mine, theirs) {
      case (.literal, .placeholder): return true
      case (.placeholder, .literal): return false
      default: continue
      }
    }
    return false
  }
}
