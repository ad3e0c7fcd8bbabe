import Events
import FoundationEssentials
import HTTPServer
import Pipeline
import SQLite
import ServiceRuntime

/// `GET /v1/orders/{id}/events`: the moves of an order as they happen (server-sent events).
///
/// The id of an event is the order's revision, so `Last-Event-ID` resumes without a gap.
struct OrderEvents: Sendable {
  /// So long a stream may be silent: a line of comment shows both sides that the other lives.
  static let heartbeat: Duration = .seconds(15)
  /// After this time a stream ends and the client comes back.
  static let longest: Duration = .seconds(1800)
  /// How many streams a customer may have open.
  static let perCustomer = 8
  /// How many streams an API key may have open.
  static let perKey = 256

  let store: Store
  let notices: Notices
  var heartbeat = OrderEvents.heartbeat

  func add(to router: inout Router) {
    router.on(
      .get, "/v1/orders/{id}/events", scope: .orders, tokens: .admittedByHandler,
      home: .id("id", streams: true)
    ) { request in
      try await stream(request)
    }
  }

  private func stream(_ request: Request) async throws -> Response {
    let order = try await Reach.order(request, store)
    // An EventSource that has read nothing sends an empty one.
    let last = [request.headers["Last-Event-ID"], request.queryValue("lastEventId")]
      .lazy.compactMap { $0 }.first { !$0.isEmpty }
    guard let after = last.map({ Int64($0) }) ?? 0 else {
      throw Problem.invalidParameter(
        "Last-Event-ID", "give the id of the last event that was read.")
    }
    var shares = [StreamBody.Share("customer \(order.customer)", limit: Self.perCustomer)]
    if let key = request.principal?.name {
      shares.append(StreamBody.Share("key \(key)", limit: Self.perKey))
    }
    return Response.stream(contentType: "text/event-stream", shares: shares) { writer in
      await run(order.id, after: after, request, writer)
    }
  }

  /// Writes moves until the client has gone, its key is revoked, the service stops or the time is over.
  private func run(_ id: String, after: Int64, _ request: Request, _ writer: StreamWriter) async {
    let end = Deadline.after(Self.longest)
    var after = after
    // What a client waits before it comes back, in milliseconds.
    guard writer.write("retry: 2000\n\n") else { return }
    while !end.hasPassed && !Task.isCancelled {
      // The place in the line comes before the look at the state, so that no move is missed between.
      let ticket = notices.streams.enter(id)
      defer { notices.streams.leave(ticket) }
      guard request.isStillAdmitted else { return }
      guard
        let moves = try? await store.readers.read({ [after] reader in
          // An order of an erased customer is gone, and its stream with it.
          try OrderStore.order(reader, id) == nil
            ? nil : OrderMoves.after(after, of: id, reader)
        })
      else { return }
      for move in moves {
        guard writer.write(Self.text(move)) else { return }
        after = move.revision
      }
      switch await notices.streams.wait(ticket, atMost: heartbeat) {
      case .notified: continue
      case .timedOut: guard writer.write(": still here\n\n") else { return }
      case .stopping, .refused, .left: return
      }
    }
  }

  static func text(_ move: OrderMove) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A move is made of texts and numbers, which every coder can write.
    let data = (try? encoder.encode(move)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    return "event: order\nid: \(move.revision)\ndata: \(data)\n\n"
  }
}
