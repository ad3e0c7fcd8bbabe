import ServiceRuntime

extension Request {
  /// The number in `limit`, for lists that are read page by page.
  ///
  /// - Throws: `Problem` 400 `invalid-parameter` outside of 1 to `most`.
  public func pageLimit(default usual: Int = 100, most: Int = 500) throws(Problem) -> Int {
    guard let text = queryValue("limit") else { return usual }
    guard let limit = Int(text), (1...most).contains(limit) else {
      throw .invalidParameter("limit", "give a whole number from 1 to \(most).")
    }
    return limit
  }
}

extension Request {
  /// A time in the query: UTC milliseconds, as answers have them, or a date or time of RFC 3339.
  ///
  /// - Throws: `Problem` 400 `invalid-parameter`.
  public func time(_ name: String) throws(Problem) -> Int64? {
    guard let text = queryValue(name) else { return nil }
    if let time = Int64(text), time >= 0 { return time }
    guard let time = milliseconds(rfc3339: text) else {
      throw .invalidParameter(
        name, "give UTC milliseconds since 1970, or a time such as 2026-01-31T08:00:00Z.")
    }
    return time
  }
}

extension Problem {
  /// 400: a parameter of the query cannot be used.
  public static func invalidParameter(_ name: String, _ remedy: String) -> Problem {
    Problem(
      status: 400, type: "invalid-parameter", title: "Invalid parameter",
      detail: "\(name) cannot be used: \(remedy)", members: ["parameter": .string(name)])
  }

  /// 400: a cursor that no page has given.
  public static var badCursor: Problem {
    .invalidParameter("cursor", "give the 'next' of the page before, unchanged.")
  }
}
