import HTTPServer
import Pipeline

// What all shards must do.
extension Shards {
  /// Has all shards do the same, the first one first: what it chose, such as a secret, the others take.
  ///
  /// Not all at once or none: when one is away, the answer says so, and the same request again does the
  /// rest.
  func spread(_ request: Request, _ spread: Spread, here: @escaping Router.Handler) async throws
    -> Response
  {
    let first = try await answer(request, at: 0, here: here)
    guard first.isGood else { return first }
    let others = try spread.body.map { request.with(body: try $0(request, first)) } ?? request
    var answers = [first]
    for ordinal in 1..<shard.count where answers.last?.isGood == true {
      answers.append(try await answer(others, at: ordinal, here: here))
    }
    if let last = answers.last, !last.isGood { return last }
    return try spread.combine(answers)
  }
}

extension Response {
  fileprivate var isGood: Bool { (200..<300).contains(status) }
}
