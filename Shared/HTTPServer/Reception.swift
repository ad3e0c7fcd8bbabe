import ServiceRuntime
import Synchronization

// The way of a request on the thread of its connection.
extension ServerCore {
  /// One call of libmicrohttpd: head, a piece of the body, the end, or the resumption.
  ///
  /// - Returns: False to close the connection without an answer.
  func step(
    _ exchange: Exchange, _ connection: ConnectionHandle, method: String, version: String,
    piece: UnsafeRawBufferPointer
  ) -> Bool {
    switch exchange.stage {
    case .head:
      return receiveHead(exchange, connection, method: method, version: version)
    case .body(let request, let route):
      if unsafe piece.isEmpty { return ripen(exchange, connection, request, route) }
      unsafe receive(piece, exchange)
      return true
    case .due(let request, let route):
      return handle(exchange, connection, request, route)
    case .begun(let request, let start):
      return wait(exchange, connection, request, start)
    case .draining(let response, let read):
      if unsafe piece.isEmpty { return answer(exchange, connection, response) }
      let read = read + piece.count
      exchange.enter(.draining(response, read: read))
      return read <= limits.drainBytes
    case .ready(let response):
      return answer(exchange, connection, response)
    case .suspended, .answered:
      return true
    }
  }

  private func receiveHead(
    _ exchange: Exchange, _ connection: ConnectionHandle, method: String, version: String
  ) -> Bool {
    let headers = connection.headers()
    let method = Method(rawValue: method)
    let id = RequestId.taken(from: headers)
    let always = router.fields(for: headers)
    exchange.state.withLock { state in
      state.method = method
      state.id = id
      if !always.isEmpty { state.fields = Exchange.Fields(always: always) }
    }
    if let fault = HeadCheck.fault(target: exchange.target, version: version, headers: headers) {
      return refuse(exchange, connection, .malformedRequest(fault), closing: true)
    }
    let size = headers.fields.reduce(exchange.target.utf8.count) {
      $0 + $1.name.utf8.count + $1.value.utf8.count + 4
    }
    guard size <= limits.headerBytes else {
      return refuse(
        exchange, connection, .headersTooLarge(limit: limits.headerBytes), closing: true)
    }
    guard !isStopping else { return refuse(exchange, connection, .stopping, closing: true) }

    let declared = headers["Content-Length"].map { Int($0) ?? Int.max } ?? 0
    // Whoever asks first need not send in vain; whoever sends too much is not listened to.
    let closing = headers["Expect"] != nil || declared > limits.drainBytes
    var request: Request
    do throws(Problem) {
      request = Request(method, try RequestTarget(exchange.target), headers: headers, id: id)
    } catch {
      return refuse(exchange, connection, error, closing: closing)
    }
    let resolution = router.resolve(&request)
    let span = span(of: request, resolution)
    if let span { request.trace = span.context }
    exchange.state.withLock { state in
      switch resolution {
      case .refused(_, let pattern), .answered(_, let pattern): state.pattern = pattern
      case .found(let route): state.pattern = route.pattern.text
      }
      if let meter = request.meter {
        state.fields = Exchange.Fields(always: always, meter: meter)
      }
      state.span = span
    }
    switch resolution {
    case .refused(let problem, _):
      return refuse(exchange, connection, problem, closing: closing)
    case .answered(let response, _):
      exchange.enter(.draining(response, read: 0))
      return true
    case .found(let route):
      guard declared <= limits.bodyBytes else {
        let problem = Problem.bodyTooLarge(limit: limits.bodyBytes)
        return refuse(exchange, connection, problem, closing: closing)
      }
      exchange.state.withLock { state in
        state.body.reserveCapacity(min(declared, 16 * 1024))
        state.stage = .body(request, route)
      }
      return true
    }
  }

  /// The span of a request that does work: probes and metrics would only fill the collector.
  private func span(of request: Request, _ resolution: Router.Resolution) -> Span? {
    guard tracer.isOn, case .found(let route) = resolution else { return nil }
    if case .direct = route.action { return nil }
    let (method, pattern) = (request.method.rawValue, route.pattern.text)
    // Names by OpenTelemetry's semantic conventions for HTTP.
    return tracer.begin(
      "\(method) \(pattern)", .server, parent: request.trace,
      attributes: [
        ("http.request.method", .string(method)), ("http.route", .string(pattern)),
        ("purser.request", .string(request.id)),
      ])
  }

  /// Keeps a piece of the body, or goes over to reading without keeping.
  private func receive(_ piece: UnsafeRawBufferPointer, _ exchange: Exchange) {
    let count = piece.count
    let (_, total) = buffered.wrappingAdd(count, ordering: .relaxed)
    let problem: Problem? = exchange.state.withLock { state in
      state.reserved += count
      let problem: Problem
      if state.body.count + count > limits.bodyBytes {
        problem = .bodyTooLarge(limit: limits.bodyBytes)
      } else if total > limits.bufferedBytes {
        problem = .overloaded()
      } else {
        unsafe state.body.append(contentsOf: piece)
        return nil
      }
      state.stage = .draining(problem.response, read: state.body.count + count)
      state.body = []
      return problem
    }
    if let problem { metrics.refused(problem.type) }
  }

  /// Answers at once what can be answered so, and lets one more call pass before a connection is suspended.
  ///
  /// A connection that libmicrohttpd 0.9.75 suspends while it wants to read, it reads from at the
  /// resumption before it asks for the answer; the end of a half-closed client then costs the answer.
  /// After a call that gave no answer it wants nothing, so it only asks.
  private func ripen(
    _ exchange: Exchange, _ connection: ConnectionHandle, _ request: Request,
    _ route: Router.Route
  ) -> Bool {
    if case .direct = route.action { return handle(exchange, connection, request, route) }
    guard case .attempt(let attempt, else: let handler) = route.action else {
      exchange.enter(.due(request, route))
      return true
    }
    var (request, route) = (request, route)
    exchange.peer.enter(.handling)
    exchange.state.withLock { swap(&request.body, &$0.body) }
    switch Outcome.of(request, attempt: attempt, else: handler) {
    case .outcome(let outcome):
      tell(outcome, request)
      return answer(exchange, connection, outcome.response)
    case .rest(let rest):
      route.action = .task(rest)
      exchange.state.withLock { state in
        swap(&request.body, &state.body)
        state.stage = .due(request, route)
      }
      return true
    case .waiting(let start):
      request.body = []
      exchange.enter(.begun(request, start))
      return true
    }
  }

  /// Sets the connection aside until the answer is told.
  private func wait(
    _ exchange: Exchange, _ connection: ConnectionHandle, _ request: Request,
    _ start: Router.Starter
  ) -> Bool {
    exchange.enter(.suspended)
    exchange.peer.enter(.handling)
    if let problem = suspend(exchange, connection) {
      metrics.refused(problem.type)
      return answer(exchange, connection, problem.response)
    }
    start { result in
      let outcome = Outcome.of(request, result)
      self.tell(outcome, request)
      self.finish(exchange, outcome.response)
    }
    return true
  }

  private func handle(
    _ exchange: Exchange, _ connection: ConnectionHandle, _ request: Request,
    _ route: Router.Route
  ) -> Bool {
    var request = request
    exchange.state.withLock { state in
      swap(&request.body, &state.body)
      // The stage held a copy of the request; the body must have one owner.
      state.stage = .suspended
    }
    exchange.peer.enter(.handling)
    switch route.action {
    case .direct(let handler):
      let outcome = Outcome.of(request, handler)
      tell(outcome, request)
      return answer(exchange, connection, outcome.response)
    case .task(let handler), .attempt(_, else: let handler):
      if let problem = suspend(exchange, connection) {
        metrics.refused(problem.type)
        return answer(exchange, connection, problem.response)
      }
      let presence = request.headers["Prefer"].map { _ in ClientPresence() }
      if let presence { exchange.state.withLock { $0.presence = presence } }
      let task = Task { [request] in
        let outcome = await ClientPresence.$current.withValue(presence) {
          await Outcome.of(request, handler)
        }
        self.tell(outcome, request)
        self.finish(exchange, outcome.response)
      }
      exchange.attach(task)
      return true
    }
  }

  /// Suspends the connection, or says why not.
  private func suspend(_ exchange: Exchange, _ connection: ConnectionHandle) -> Problem? {
    desk.withLock { desk in
      if desk.isClosing { return .stopping }
      if desk.waiting.count >= limits.requestsInFlight { return .overloaded() }
      connection.suspend()
      desk.waiting[ObjectIdentifier(exchange)] = Desk.Waiting(
        exchange: exchange, connection: connection)
      metrics.inFlight.add(1)
      return nil
    }
  }

  /// Takes an answer from a task or the watch; the first one wins.
  func finish(_ exchange: Exchange, _ response: Response) {
    desk.withLock { desk in
      guard let waiting = desk.waiting.removeValue(forKey: ObjectIdentifier(exchange)) else {
        return
      }
      exchange.enter(.ready(response))
      waiting.connection.resume()
      metrics.inFlight.add(-1)
    }
  }

  private func tell(_ outcome: Outcome, _ request: Request) {
    if let problem = outcome.problem { metrics.told(problem: problem) }
    guard let fault = outcome.fault else { return }
    TraceContext.$current.withValue(request.trace) {
      log.error("a handler failed", ["request": .string(request.id), "error": .string(fault)])
    }
  }
}
