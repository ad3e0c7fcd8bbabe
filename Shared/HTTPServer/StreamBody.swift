/// A body that is written as things happen, such as server-sent events.
public struct StreamBody: Sendable {
  /// A bound on how many streams somebody may have open.
  public struct Share: Sendable, Equatable {
    /// Who shares it, such as a customer or a key.
    public let group: String
    /// How many streams the group may have.
    public let limit: Int

    /// Makes a bound.
    public init(_ group: String, limit: Int) {
      self.group = group
      self.limit = limit
    }
  }

  /// Whose streams are counted with this one; beyond any bound it is refused with 429.
  public let shares: [Share]
  /// Writes until it returns; its task is cancelled when the client has gone or the server stops.
  public let run: @Sendable (StreamWriter) async -> Void
}

/// Where a stream is written to.
public struct StreamWriter: Sendable {
  private let writing: @Sendable ([UInt8]) -> Bool

  /// Makes a writer over a function that is false when nothing can be written any more.
  public init(_ write: @escaping @Sendable ([UInt8]) -> Bool) { writing = write }

  /// Hands over bytes without waiting; false when the stream has ended: the client has gone, does not
  /// read what it was sent, or the server stops.
  public func write(_ bytes: [UInt8]) -> Bool { writing(bytes) }

  /// Hands over text.
  public func write(_ text: String) -> Bool { writing(Array(text.utf8)) }
}

extension Response {
  /// An answer whose body is written as things happen.
  ///
  /// - Parameters:
  ///   - contentType: Such as `text/event-stream`.
  ///   - shares: Whose streams are counted with it.
  ///   - run: Writes the body; the stream ends when it returns.
  public static func stream(
    contentType: String, shares: [StreamBody.Share],
    run: @escaping @Sendable (StreamWriter) async -> Void
  ) -> Response {
    // A proxy that keeps the answer until it is whole would keep it for ever.
    var response = Response(
      status: 200,
      headers: [
        ("Content-Type", contentType), ("Cache-Control", "no-store"), ("X-Accel-Buffering", "no"),
      ])
    response.stream = StreamBody(shares: shares, run: run)
    return response
  }
}
