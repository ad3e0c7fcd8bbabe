import AppStore
import Catalog
import HTTPClient
import Pipeline
import ServiceRuntime

/// The ways to Apple's servers, shared by all who ask: one limiter per app and environment, with this
/// shard's part of Apple's rates.
final class AppleClients: Service {
  /// The name that logs show.
  let name = "apple"

  /// For the App Store Server API.
  let context: APIContext
  /// For each app with a key: where its transactions are looked for.
  let lookups: [String: EnvironmentLookup]
  /// Sends what is no request of the API: `verifyReceipt` and OCSP.
  let transport: RevocationChecker.Transport
  private let apiClient: HTTPClient
  private let otherClient: HTTPClient
  private let ended = Completion<Void>()

  init(_ settings: Settings, timing: APITiming, log: Log, metrics: Metrics) throws {
    let apiClient = HTTPClient(workers: 8, name: "apple", log: log, metrics: metrics)
    let otherClient = HTTPClient(workers: 4, name: "apple-other", log: log, metrics: metrics)
    self.apiClient = apiClient
    self.otherClient = otherClient
    var context = APIContext(bases: settings.apple.api, timing: timing, client: apiClient)
    context.limiter = APILimiter(
      share: 0.95 / Double(settings.pipeline.shards.shard.count), timing: timing)
    self.context = context.counted(log: log, metrics: metrics)
    transport = { (request) async throws(HTTPClientError) in try await otherClient.send(request) }
    var lookups: [String: EnvironmentLookup] = [:]
    for (bundleId, key) in settings.apiKeys {
      var clients: [AppStoreServerAPI] = []
      for environment in [AppEnvironment.production, .sandbox]
      where settings.apps.app(bundleId)?.environments[environment.rawValue] != nil {
        clients.append(
          try AppStoreServerAPI(
            bundleId: bundleId, environment: environment, key: key, context: context))
      }
      lookups[bundleId] = EnvironmentLookup(clients)
    }
    self.lookups = lookups
  }

  func run() async { await ended.value() }

  func stop(by deadline: Deadline) async {
    await apiClient.close(by: min(deadline, .after(.seconds(1))))
    await otherClient.close(by: min(deadline, .after(.seconds(1))))
    ended.complete(with: ())
  }
}
