import HTTPServer
import SQLite

/// Runs work on the store; a full queue or a stopping store becomes 503, to be tried again.
func busyAsProblem<Result>(_ work: () async throws -> Result) async throws -> Result {
  do {
    return try await work()
  } catch is WriterBusy {
    throw Problem.overloaded(
      retryAfter: .seconds(1), "The store has more to write than it takes. Try again.")
  } catch is WriterClosed {
    throw Problem(
      status: 503, type: "stopping", title: "Stopping",
      detail: "This process is stopping. Try again.", retryAfter: .seconds(1))
  } catch let error as SQLiteError where error.isStorageFailure {
    throw Problem(
      status: 503, type: "store-failed", title: "Cannot be stored now",
      detail: "The store cannot write at present; nothing was stored. Try again.",
      retryAfter: .seconds(5))
  }
}
