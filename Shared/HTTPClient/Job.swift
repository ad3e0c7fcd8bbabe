import ServiceRuntime
import Synchronization

/// A request on its way through the client.
final class Job: Sendable {
  typealias Outcome = Result<HTTPResponse, HTTPClientError>

  let request: HTTPRequest
  let done = Completion<Outcome>()
  /// Where the body goes as it comes; nil keeps it until it is whole.
  let body: ComingBody?
  private let cancelled = Atomic<Bool>(false)
  private let closed = Atomic<Bool>(false)

  init(_ request: HTTPRequest, body: ComingBody? = nil) {
    self.request = request
    self.body = body
  }

  func end(with outcome: Outcome) {
    body?.end(outcome)
    done.complete(with: outcome)
  }

  func cancel() { cancelled.store(true, ordering: .releasing) }
  func close() { closed.store(true, ordering: .releasing) }

  var isCancelled: Bool { cancelled.load(ordering: .acquiring) }
  var isGivenUp: Bool { isCancelled || closed.load(ordering: .acquiring) }

  func error(_ kind: HTTPClientError.Kind, _ detail: String) -> HTTPClientError {
    HTTPClientError(kind: kind, origin: HTTPClientError.origin(of: request.url), detail: detail)
  }

  /// What keeps the request from being sent at all.
  var fault: HTTPClientError? {
    let lowered = request.url.prefix(8).lowercased()
    guard lowered.hasPrefix("http://") || lowered.hasPrefix("https://") else {
      return error(.invalidRequest, "give an absolute http or https URL")
    }
    let isPlain = { (text: String) in
      !text.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
    }
    guard isPlain(request.url), !request.url.utf8.contains(0x20) else {
      return error(.invalidRequest, "the URL holds a space or a control character")
    }
    guard isPlain(request.method), !request.method.isEmpty,
      request.headers.allSatisfy({
        isPlain($0.0) && isPlain($0.1) && !$0.0.isEmpty && !$0.0.utf8.contains(0x3A)
      })
    else {
      return error(.invalidRequest, "the method or a header field holds a control character")
    }
    return nil
  }
}
