import ServiceRuntime

/// What came of running a handler: the one place where errors become answers.
struct Outcome: Sendable {
  let response: Response
  /// What the log must know; nil when all is well or the client was told everything.
  let fault: String?
  /// The type of the problem that the client was told, for the metrics.
  var problem: String?

  static func of(_ request: Request, _ handler: (Request) throws -> Response) -> Outcome {
    do {
      return answered(try handler(request), request)
    } catch {
      return failed(error, request)
    }
  }

  /// What came of an attempt, or what is left to do in a task.
  enum Attempt {
    case outcome(Outcome)
    case rest(Router.Handler)
    case waiting(Router.Starter)
  }

  static func of(
    _ request: Request, attempt: Router.Attempt, else handler: @escaping Router.Handler
  ) -> Attempt {
    do {
      switch try attempt(request) {
      case .answered(let response): return .outcome(answered(response, request))
      case .begun(let rest): return .rest(rest)
      case .waiting(let start): return .waiting(start)
      case .untried: return .rest(handler)
      }
    } catch {
      return .outcome(failed(error, request))
    }
  }

  static func of(
    _ request: Request, _ handler: @Sendable (Request) async throws -> Response
  ) async -> Outcome {
    do {
      let response = try await TraceContext.$current.withValue(request.trace) {
        try await handler(request)
      }
      return answered(response, request)
    } catch {
      return failed(error, request)
    }
  }

  /// What somebody told.
  static func of(_ request: Request, _ result: Result<Response, any Error>) -> Outcome {
    switch result {
    case .success(let response): answered(response, request)
    case .failure(let error): failed(error, request)
    }
  }

  private static func answered(_ response: Response, _ request: Request) -> Outcome {
    if let failure = response.failure { return broken(failure, request) }
    guard (200...599).contains(response.status) else {
      return broken("the handler answered with the status \(response.status)", request)
    }
    return Outcome(response: response, fault: nil)
  }

  private static func failed(_ error: any Error, _ request: Request) -> Outcome {
    if let problem = error as? Problem {
      return Outcome(response: problem.response, fault: nil, problem: problem.type)
    }
    if let tryAgain = (error as? any Transient)?.tryAgain {
      return Outcome(
        response: Problem.tryAgain(tryAgain).response, fault: nil, problem: tryAgain.type)
    }
    return broken(String(describing: error), request)
  }

  private static func broken(_ fault: String, _ request: Request) -> Outcome {
    Outcome(
      response: Problem.internal(requestId: request.id).response, fault: fault, problem: "internal")
  }
}
