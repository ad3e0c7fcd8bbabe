import AppStore
import HTTPServer

extension Problem {
  /// What Apple's API, or the way to it, said to a request of a person.
  init(_ error: APIError) {
    var members: [String: JSONValue] = ["advice": .string(error.advice)]
    if let code = error.code { members["appleErrorCode"] = .integer(code.rawValue) }
    if case .badRequest(let field) = error.kind {
      self.init(
        status: 400, type: "invalid-field", title: "Invalid field",
        detail: "$.\(field): \(error.message).", members: ["path": .string("$.\(field)")])
      return
    }
    if error.isVerdict, error.status == 404 {
      self.init(
        status: 404, type: "apple-not-found", title: "Unknown at Apple",
        detail: error.description, members: members)
      return
    }
    if error.isVerdict {
      self.init(
        status: 422, type: "apple-refused", title: "Refused by Apple", detail: error.description,
        members: members)
      return
    }
    if error.isRetryable {
      self.init(
        status: 503, type: "apple-unavailable", title: "Apple does not answer now",
        detail: error.description, members: members,
        retryAfter: max(.seconds(5), min(error.retryAfter ?? .zero, .seconds(3600))))
      return
    }
    self.init(
      status: 502, type: "apple-failed", title: "Apple's answer is of no use",
      detail: error.description, members: members)
  }

  /// No key for the app and environment.
  init(_ fault: NoAPIKey) {
    self.init(
      status: 409, type: "no-api-key", title: "No API key",
      detail: "There is \(fault). Xcode has no server and cannot be asked.")
  }

  /// Apple answered with what does not belong here.
  init(_ fault: ForeignAnswer) {
    self.init(
      status: 502, type: "apple-failed", title: "Apple's answer is of no use",
      detail: fault.description)
  }
}
