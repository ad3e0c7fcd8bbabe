import ServiceRuntime

// Header fields that Purser's routes share.

extension Request {
  /// The time of `Prefer: wait=N` (RFC 7240 §4.3), at most the given bound; nil when not asked for.
  public func preferredWait(atMost bound: Duration) -> Duration? {
    for value in headers.all("Prefer") {
      for preference in value.split(separator: ",") {
        let token = preference.split(separator: ";").first ?? ""
        let parts = token.split(separator: "=", maxSplits: 1).map {
          String($0.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        }
        guard parts.count == 2, Headers.same(parts[0], "wait") else { continue }
        let digits = parts[1].filter { $0 != "\"" }
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = Int64(digits)
        else { return nil }
        return min(bound, .seconds(seconds))
      }
    }
    return nil
  }

  /// `Idempotency-Key`, with or without the quotes of draft-ietf-httpapi-idempotency-key-header.
  ///
  /// - Throws: `Problem` 400 `invalid-idempotency-key` for one that is empty, longer than the bound,
  ///   given twice, or not of visible ASCII.
  public func idempotencyKey(maximumBytes: Int = 255) throws(Problem) -> String? {
    let values = headers.all("Idempotency-Key")
    guard let value = values.first else { return nil }
    var key = value[...]
    if key.count >= 2, key.hasPrefix("\""), key.hasSuffix("\"") {
      key = key.dropFirst().dropLast()
    }
    guard values.count == 1, (1...maximumBytes).contains(key.utf8.count),
      key.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x22 })
    else {
      throw Problem(
        status: 400, type: "invalid-idempotency-key", title: "Invalid Idempotency-Key",
        detail: "Give one Idempotency-Key of 1 to \(maximumBytes) visible ASCII characters, "
          + "such as a UUID.")
    }
    return String(key)
  }

  /// Whether `If-None-Match` names the tag, by weak comparison (RFC 9110 §13.1.2).
  ///
  /// - Parameter tag: The opaque part, without quotes.
  public func ifNoneMatch(_ tag: String) -> Bool {
    headers.all("If-None-Match").contains { list in
      list.split(separator: ",").contains { one in
        var one = String(one.drop { $0 == " " || $0 == "\t" })
        while one.hasSuffix(" ") { one.removeLast() }
        if one == "*" { return true }
        if one.hasPrefix("W/") { one.removeFirst(2) }
        return one == "\"\(tag)\""
      }
    }
  }

  /// `traceparent` (W3C Trace Context) for what this request causes; nil outside of any trace.
  public var traceparent: String? { trace?.traceparent }
}

extension Response {
  /// Adds `ETag`, and becomes 304 without a body when the client holds this state already.
  ///
  /// - Parameter tag: The opaque part, without quotes: visible ASCII without `"`.
  public func tagged(_ tag: String, for request: Request) -> Response {
    var copy = self
    copy.headers.append(("ETag", "\"\(tag)\""))
    guard status == 200, request.method == .get || request.method == .head,
      request.ifNoneMatch(tag)
    else { return copy }
    copy.status = 304
    copy.body = []
    copy.headers.removeAll { Headers.same($0.0, "Content-Type") }
    return copy
  }

  /// Says which wait was granted (RFC 7240 §3).
  public func appliedWait(_ wait: Duration) -> Response {
    with("Preference-Applied", "wait=\(wait.components.seconds)")
  }
}
