import ServiceRuntime

/// Finds in which environment a transaction is known: production first, the sandbox only when
/// production says that the id is unknown (reference §4.8), or does not take the key.
///
/// Production answers 401 for an app that was never released (reference §4.2), and App Review buys in
/// the sandbox. So after a 401 the sandbox may tell where the transaction is, but never that it is
/// unknown: then the 401 stands, and the caller asks again later.
public final class EnvironmentLookup: Sendable {
  /// A transaction and where it was found.
  public struct Found: Sendable, Equatable {
    /// The environment that knows it.
    public let environment: AppEnvironment
    /// Apple's answer.
    public let answer: TransactionInfoAnswer
  }

  private let clients: [AppStoreServerAPI]
  private let remembered: RecentMemory<String, AppEnvironment>

  /// Looks in the environments of one app.
  ///
  /// - Parameters:
  ///   - clients: Of the environments that the app allows; production is asked first wherever it
  ///     stands in the list.
  ///   - limit: Ids whose environment is remembered.
  public init(_ clients: [AppStoreServerAPI], limit: Int = 100_000) {
    self.clients =
      clients.filter { $0.environment == .production }
      + clients.filter { $0.environment != .production }
    remembered = RecentMemory(limit: limit)
  }

  /// The transaction of an id.
  ///
  /// - Parameter hint: Where the asking client says that it is from; it decides the order only.
  /// - Throws: `APIError` of kind `unknownTransaction` when all answered 4040010; any other error of
  ///   an environment as it is, without asking the next, but for production's 401.
  public func find(
    _ transactionId: String, hint: AppEnvironment? = nil
  ) async throws(APIError) -> Found {
    try await search(transactionId, hint).get()
  }

  /// A `Result`, as Swift 6.3.1 crashes in optimized builds on a typed throw out of such a loop.
  private func search(_ transactionId: String, _ hint: AppEnvironment?) async
    -> Result<Found, APIError>
  {
    let clients = order(for: transactionId, hint)
    var refusal: Result<Found, APIError>?
    for client in clients {
      let result = await ask(client, transactionId)
      if client.environment == .production, isUnauthorized(result) {
        refusal = result
      } else if !isUnknown(result) {
        return hasFound(result) ? result : refusal ?? result
      }
    }
    if let refusal { return refusal }
    remembered.forget(transactionId)
    return .failure(Self.unknown(asked: clients.map(\.environment)))
  }

  private func isUnknown(_ result: Result<Found, APIError>) -> Bool {
    guard case .failure(let error) = result else { return false }
    return error.code == .transactionIdNotFound
  }

  private func isUnauthorized(_ result: Result<Found, APIError>) -> Bool {
    guard case .failure(let error) = result else { return false }
    return error.kind == .unauthorized
  }

  private func hasFound(_ result: Result<Found, APIError>) -> Bool {
    if case .success = result { true } else { false }
  }

  private static func unknown(asked: [AppEnvironment]) -> APIError {
    let names = asked.isEmpty ? "no environment" : asked.map(\.rawValue).joined(separator: " and ")
    let others = asked.contains(.sandbox) ? "" : "; the sandbox was not asked"
    return APIError(
      .unknownTransaction(asked: asked), status: asked.isEmpty ? nil : 404,
      message: "the transaction id is unknown: asked \(names)\(others)")
  }

  private func ask(_ client: AppStoreServerAPI, _ transactionId: String) async
    -> Result<Found, APIError>
  {
    do {
      let answer = try await client.answer(to: .transactionInfo(transactionId))
      remembered.set(client.environment, for: transactionId)
      return .success(Found(environment: client.environment, answer: answer))
    } catch {
      return .failure(error)
    }
  }

  /// Remembers what signed data said about an id.
  public func remember(_ environment: AppEnvironment, for transactionId: String) {
    remembered.set(environment, for: transactionId)
  }

  /// The client of the environment where an id was found before; nil if it is not remembered.
  public func remembered(for transactionId: String) -> AppStoreServerAPI? {
    remembered[transactionId].flatMap { known in clients.first { $0.environment == known } }
  }

  /// Where it was found before, or where it is said to be from, is asked first.
  private func order(for transactionId: String, _ hint: AppEnvironment?) -> [AppStoreServerAPI] {
    guard let known = remembered[transactionId] ?? hint else { return clients }
    return clients.filter { $0.environment == known } + clients.filter { $0.environment != known }
  }
}
