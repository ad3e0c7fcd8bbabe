import AppStore
import Catalog
import FoundationEssentials
import ServiceRuntime

/// All settings of the simulator; the only file that reads the environment.
struct Settings: Sendable {
  /// The environments that can be played.
  enum Environment: String, CaseIterable, Sendable {
    case sandbox = "Sandbox"
    case production = "Production"
  }

  let host: String
  let port: Int
  let catalog: Catalog
  let bundleId: String
  let appAppleId: Int64?
  let environment: AppEnvironment
  let storefront: Storefront
  let rootFile: String
  let clockFile: String?
  let notificationURL: String?
  let notificationTimeout: Duration
  let notificationLanes: Int
  let notificationQueue: Int
  let notificationHistory: Int
  let transactionLimit: Int
  let apiKeyFile: String?
  let apiKeyId: String
  let apiIssuerId: String
  let apiRatePercent: Int
  let sharedSecret: String?
  let clockPause: Duration

  /// The environment of this process.
  static var environment: [String: String] { ProcessInfo.processInfo.environment }

  /// Asks the reader for every setting; nil if the catalog is among the faults.
  init?(_ reader: inout SettingsReader, _ arguments: [String: String]) {
    host = reader.text("SIMULATOR_HTTP_HOST", default: "127.0.0.1", "address to listen on")
    port = reader.integer("SIMULATOR_HTTP_PORT", default: 8090, in: 0...65_535, "port; 0 for any")
    let catalogFile = reader.requiredText(
      "SIMULATOR_CATALOG", "the products: an Xcode .storekit file or a catalog.json")
    bundleId = reader.requiredText("SIMULATOR_BUNDLE_ID", "bundle id of the app, com.example.app")
    let number = reader.integer(
      "SIMULATOR_APP_APPLE_ID", default: 0, in: 0...Int(Int64.max),
      "the app's number in the App Store; needed to play Production")
    appAppleId = number == 0 ? nil : Int64(number)
    let played = reader.choice(
      "SIMULATOR_ENVIRONMENT", default: Environment.sandbox,
      "environment in all signed data; notifications are repeated in Production only")
    environment = AppEnvironment(rawValue: played.rawValue)
    if played == .production, number == 0 {
      reader.fault("SIMULATOR_APP_APPLE_ID", "is needed when SIMULATOR_ENVIRONMENT is Production")
    }
    rootFile = reader.text(
      "SIMULATOR_ROOT_FILE", default: "simulator-root.der",
      "where the root certificate is written at start (DER), for others to pin")
    clockFile = reader.optionalText(
      "SIMULATOR_CLOCK_FILE", "where the shift of the clock is written, in milliseconds")
    notificationURL = reader.optionalText(
      "SIMULATOR_NOTIFICATION_URL", "where notifications are posted; without it none are sent")
    if let url = notificationURL, !url.hasPrefix("http://"), !url.hasPrefix("https://") {
      reader.fault("SIMULATOR_NOTIFICATION_URL", "is '\(url)'; give an http or https URL")
    }
    notificationTimeout = reader.seconds(
      "SIMULATOR_NOTIFICATION_TIMEOUT", default: 10, in: 1...60, "time of one attempt")
    notificationLanes = reader.integer(
      "SIMULATOR_NOTIFICATION_LANES", default: 1, in: 1...32,
      "notifications sent at a time; with more than 1 only those of one lineage keep their order")
    notificationQueue = reader.integer(
      "SIMULATOR_NOTIFICATION_QUEUE", default: 10_000, in: 1...100_000,
      "notifications on their way at most; beyond it commands are refused")
    notificationHistory = reader.integer(
      "SIMULATOR_NOTIFICATION_HISTORY", default: 5_000, in: 0...50_000,
      "finished notifications that are kept, about 15 KB each")
    transactionLimit = reader.integer(
      "SIMULATOR_TRANSACTION_LIMIT", default: 1_000_000, in: 1...5_000_000,
      "transactions that are kept; beyond it purchases are refused")
    apiKeyFile = reader.optionalText(
      "SIMULATOR_API_KEY_FILE",
      "the In-App Purchase key (.p8) that services call the API with; made if it is not there")
    apiKeyId = reader.text(
      "SIMULATOR_API_KEY_ID", default: "SIMULATED1", "the id of that key")
    apiIssuerId = reader.text(
      "SIMULATOR_API_ISSUER_ID", default: "57246542-96fe-1a63-e053-0824d011072a",
      "the issuer of that key")
    apiRatePercent = reader.integer(
      "SIMULATOR_API_RATE_PERCENT", default: 100, in: 0...10_000,
      "share of Apple's hourly rates that is granted; 0 for no limit")
    sharedSecret = reader.optionalText(
      "SIMULATOR_SHARED_SECRET", "what verifyReceipt wants as password; without it any will do")
    clockPause = .milliseconds(
      reader.integer(
        "SIMULATOR_CLOCK_PAUSE_MS", default: 100, in: 0...5_000,
        "real milliseconds that others get before a moved clock leaps away from what happened"))
    let country = reader.optionalText(
      "SIMULATOR_STOREFRONT", "country of purchases, alpha-3; by default that of the catalog or USA"
    )
    let products = Self.catalog(catalogFile, &reader)
    storefront = Self.storefront(country, products, &reader)
    guard let products else { return nil }
    catalog = products
  }

  private static func catalog(_ path: String, _ reader: inout SettingsReader) -> Catalog? {
    guard !path.isEmpty else { return nil }
    do {
      return try Catalog.load(path: path)
    } catch {
      reader.fault("SIMULATOR_CATALOG", "names '\(path)', which cannot be used: \(error)")
      return nil
    }
  }

  private static func storefront(
    _ country: String?, _ catalog: Catalog?, _ reader: inout SettingsReader
  ) -> Storefront {
    if let country {
      if let known = Storefront.of(country) { return known }
      let words = Storefront.all.map(\.code).joined(separator: ", ")
      reader.fault("SIMULATOR_STOREFRONT", "is '\(country)'; give one of \(words)")
    }
    return catalog?.settings?.storefront.flatMap { Storefront.of($0) } ?? .unitedStates
  }
}
