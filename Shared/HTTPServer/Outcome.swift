import ServiceRuntime

/// What came of running a handler: the one place where errors become answers.
struct Outcome: Sendable {
  let response: Response
  /// What the log must know; nil when all is well or the client was told everything.
  let fault: String?

  static func of(_ request: Request, _ handler: (Request) throws -> Response) -> Outcome {
    do {
      return answered(try handler(request), request)
    } catch {
      return failed(error, request)
    }
  }

  static func of(
    _ request: Request, _ handler: @Sendable (Request) async throws -> Response
  ) async -> Outcome {
    do {
      return answered(try await handler(request), request)
    } catch {
      return failed(error, request)
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
    if let problem = error as? Problem { return Outcome(response: problem.response, fault: nil) }
    if let tryAgain = (error as? any Transient)?.tryAgain {
      return Outcome(response: Problem.tryAgain(tryAgain).response, fault: nil)
    }
    return broken(String(describing: error), request)
  }

  private static func broken(_ fault: String, _ request: Request) -> Outcome {
    Outcome(response: Problem.internal(requestId: request.id).response, fault: fault)
  }
}
