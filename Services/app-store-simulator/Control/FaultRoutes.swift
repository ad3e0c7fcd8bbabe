import AppStore
import HTTPServer

/// Faults of Apple's servers, on demand.
struct FaultRoutes: Sendable {
  private struct List: Encodable {
    let faults: [APIFault]
  }

  let faults: FaultPlan

  func add(to router: inout Router) {
    router.on(.get, "/control/faults", scope: nil) { _ in .json(List(faults: faults.all)) }
    router.on(.delete, "/control/faults", scope: nil) { _ in
      faults.clear()
      return .json(List(faults: []))
    }
    router.on(.post, "/control/faults", scope: nil) { request in
      let fault: APIFault = try request.json()
      try check(fault)
      guard faults.add(fault) else {
        throw Problem(
          status: 409, type: "too-many-faults", title: "Too many faults",
          detail: "\(FaultPlan.limit) faults are in force. DELETE /control/faults takes them back.")
      }
      return .json(List(faults: faults.all), status: 201)
    }
  }

  private func check(_ fault: APIFault) throws(Problem) {
    let names = APIEndpoint.allCases.map(\.rawValue) + [VerifyReceiptRoute.endpoint]
    var wrong: String?
    if let endpoint = fault.endpoint, !names.contains(endpoint) {
      wrong = "endpoint is '\(endpoint)'; give one of \(names.joined(separator: ", "))"
    } else if let milliseconds = fault.milliseconds, !(0...600_000).contains(milliseconds) {
      wrong = "milliseconds is \(milliseconds); give 0 to 600000"
    } else if let status = fault.status, !(200...599).contains(status) {
      wrong = "status is \(status); give 200 to 599"
    } else if let count = fault.count, count < 1 {
      wrong = "count is \(count); give at least 1, or none until the fault is taken back"
    } else if let code = fault.errorCode, fault.endpoint == VerifyReceiptRoute.endpoint {
      if !(21_000...21_199).contains(code) {
        wrong = "errorCode is \(code); verifyReceipt says 21000 to 21199"
      }
    } else if let code = fault.errorCode, !(400...599).contains(code / 10_000) {
      wrong = "errorCode is \(code); its first three digits must be an HTTP status"
    }
    guard let wrong else { return }
    throw Problem(
      status: 422, type: "invalid-fault", title: "Invalid fault", detail: "\(wrong).")
  }
}
