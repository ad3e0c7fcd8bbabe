import ServiceRuntime
import Synchronization

// The way of an answer on the thread of its connection.
extension ServerCore {
  /// Refuses a request: at once, or after its body when the connection is to live on.
  func refuse(
    _ exchange: Exchange, _ connection: ConnectionHandle, _ problem: Problem, closing: Bool
  ) -> Bool {
    metrics.refused(problem.type)
    var response = problem.response
    guard closing else {
      exchange.enter(.draining(response, read: 0))
      return true
    }
    // An answer before the body makes libmicrohttpd close the connection after it.
    response.headers.append(("Connection", "close"))
    return answer(exchange, connection, response)
  }

  func answer(_ exchange: Exchange, _ connection: ConnectionHandle, _ response: Response) -> Bool {
    let stream = exchange.state.withLock { $0.method } == .head ? nil : response.stream
    let outgoing = stream.map { OutgoingStream(self, exchange.peer, connection, $0) }
    var response = outgoing.flatMap { refusal(of: $0, exchange)?.response } ?? response
    let (id, method, pattern, fields, span) = exchange.state.withLock { state in
      state.stage = .answered
      state.task = nil
      return (state.id, state.method, state.pattern, state.fields, state.span.take())
    }
    if var span {
      span.attributes.append(("http.response.status_code", LogValue(response.status)))
      span.hasFailed = response.status >= 500
      tracer.end(span)
    }
    if let fields {
      response.headers += fields.always
      response.headers += fields.meter?.fields ?? []
    }
    if !id.isEmpty { response.headers.append(("X-Request-Id", id)) }
    if isStopping && response.header("Connection") == nil {
      response.headers.append(("Connection", "close"))
    }
    exchange.peer.enter(.writing)
    let time = ContinuousClock.now - exchange.began
    metrics.answered(method, pattern, response.status, in: time)
    if log.minimumLevel <= .debug {
      log.debug(
        "answered",
        [
          "request": .string(id), "method": .string(method.rawValue), "route": .string(pattern),
          "status": LogValue(response.status), "milliseconds": LogValue(time.wholeMilliseconds),
        ])
    }
    guard let outgoing, let body = response.stream else { return connection.answer(response) }
    // The end of the exchange takes it from the desk, whatever becomes of this.
    guard connection.answer(response, with: outgoing) else { return false }
    outgoing.start(body)
    return true
  }
}
