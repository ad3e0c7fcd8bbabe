// swift-tools-version: 6.2
// The one list of modules: what each is, where it lives, and what it may import.
// `deploy/scripts/check-imports` holds every `import` line against this list.
import PackageDescription

let settings: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

func shared(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, path: "Shared/\(name)", swiftSettings: settings)
}

func service(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Services/\(name)", swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name, dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)",
    swiftSettings: settings)
}

func library(_ name: String, pkgConfig: String, debian: String) -> Target {
  .systemLibrary(
    name: name, path: "Shared/CLibraries/\(name)", pkgConfig: pkgConfig,
    providers: [.apt([debian])])
}

func shim(_ name: String, links: [String] = []) -> Target {
  .target(
    name: name, path: "Shared/CLibraries/\(name)",
    linkerSettings: links.map { .linkedLibrary($0) })
}

/// Fuzzing needs the toolchain's libFuzzer, so only `make fuzz` builds it; see deploy/scripts/fuzz.
let fuzzing: [Target] =
  Context.environment["PURSER_FUZZ"] == nil
  ? []
  : [
    .target(name: "CFuzzer", path: "Tests/Fuzzing/CFuzzer"),
    .executableTarget(
      name: "fuzz", dependencies: ["AppStore", "CFuzzer", "Cryptography"],
      path: "Tests/Fuzzing/fuzz", swiftSettings: settings),
  ]

let package = Package(
  name: "purser",
  // For apps that take `PurserClient`; everything else runs on Linux.
  platforms: [.macOS(.v15), .iOS(.v17)],
  products: [
    .library(name: "PurserClient", targets: ["PurserClient"]),
    .executable(name: "order-service", targets: ["order-service"]),
    .executable(name: "verify-service", targets: ["verify-service"]),
    .executable(name: "entitlement-service", targets: ["entitlement-service"]),
    .executable(name: "app-store-simulator", targets: ["app-store-simulator"]),
    .executable(name: "purser", targets: ["purser"]),
    // Loaded by the fault tests into the executables; see Tests/FaultInjection.
    .library(name: "FaultInjection", type: .dynamic, targets: ["FaultInjection"]),
  ],
  targets: [
    // C libraries of the distribution. Each is imported by exactly one Swift module.
    library("CRdkafka", pkgConfig: "rdkafka", debian: "librdkafka-dev"),
    library("CSQLite", pkgConfig: "sqlite3", debian: "libsqlite3-dev"),
    library("COpenSSL", pkgConfig: "openssl", debian: "libssl-dev"),
    shim("CMicrohttpd", links: ["microhttpd"]),
    shim("CCurl", links: ["curl"]),
    shim("CPlatform"),

    // Pure values and rules.
    shared("JSON"),
    shared("Events", ["JSON"]),
    shared("Catalog"),

    // One wrapper per C library: bytes in, bytes out.
    shared("ServiceRuntime", ["CPlatform"]),
    shared("Cryptography", ["COpenSSL"]),
    shared("Kafka", ["CRdkafka", "ServiceRuntime"]),
    shared("SQLite", ["CSQLite", "ServiceRuntime"]),
    shared("HTTPServer", ["CMicrohttpd", "ServiceRuntime", "Cryptography", "JSON"]),
    shared("HTTPClient", ["CCurl", "ServiceRuntime"]),

    // Sends spans to a collector.
    shared("Tracing", ["HTTPClient", "JSON", "ServiceRuntime"]),

    // Processes that a program of ours starts: the tool and the benchmarks, never a service.
    shared("Processes", ["ServiceRuntime"]),

    // What Purser is made of.
    shared("AppStore", ["Cryptography", "HTTPClient", "JSON", "ServiceRuntime"]),
    shared("Pipeline", ["Kafka", "SQLite", "Events", "Cryptography", "ServiceRuntime"]),
    shared(
      "Access",
      [
        "HTTPServer", "HTTPClient", "JSON", "Pipeline", "SQLite", "Events", "Cryptography",
        "ServiceRuntime",
      ]),

    shared(
      "Shards",
      ["HTTPServer", "HTTPClient", "JSON", "Pipeline", "SQLite", "ServiceRuntime"]),

    // What an app takes in; imports nothing of ours.
    shared("PurserClient"),

    // The executables.
    service(
      "order-service",
      [
        "Access", "AppStore", "Events", "Catalog", "Cryptography", "HTTPClient", "HTTPServer",
        "JSON", "Kafka", "Pipeline", "SQLite", "ServiceRuntime", "Shards", "Tracing",
      ]),
    service(
      "verify-service",
      [
        "Access", "AppStore", "Events", "Catalog", "Cryptography", "HTTPClient", "HTTPServer",
        "JSON", "Kafka", "Pipeline", "SQLite", "ServiceRuntime", "Shards", "Tracing",
      ]),
    service(
      "entitlement-service",
      [
        "Access", "Events", "Catalog", "Cryptography", "HTTPClient", "HTTPServer", "JSON", "Kafka",
        "Pipeline", "SQLite", "ServiceRuntime", "Shards", "Tracing",
      ]),
    service(
      "app-store-simulator",
      ["AppStore", "Catalog", "Cryptography", "HTTPServer", "HTTPClient", "ServiceRuntime"]),
    service(
      "purser",
      [
        "Access", "AppStore", "Catalog", "Cryptography", "Events", "HTTPClient", "HTTPServer",
        "Kafka", "Pipeline", "Processes", "SQLite", "ServiceRuntime",
      ]),

    // Tests: a target per module, then the whole way with real processes.
    .target(
      name: "TestSupport",
      dependencies: [
        "AppStore", "Cryptography", "HTTPClient", "HTTPServer", "Kafka", "Processes", "SQLite",
        "ServiceRuntime",
      ],
      path: "Tests/TestSupport", swiftSettings: settings),
    .target(name: "FaultInjection", path: "Tests/FaultInjection"),
    tests("JSONTests", ["JSON"]),
    tests("EventsTests", ["Events"]),
    tests("CatalogTests", ["Catalog"]),
    tests("PurserClientTests", ["PurserClient"]),
    tests("ServiceRuntimeTests", ["ServiceRuntime"]),
    tests("TracingTests", ["Tracing", "HTTPServer", "ServiceRuntime"]),
    tests("CryptographyTests", ["Cryptography"]),
    tests("KafkaTests", ["Kafka", "Processes", "ServiceRuntime"]),
    tests("SQLiteTests", ["SQLite", "ServiceRuntime"]),
    tests(
      "HTTPServerTests",
      ["HTTPServer", "HTTPClient", "Cryptography", "JSON", "ServiceRuntime"]),
    tests(
      "AccessTests",
      [
        "Access", "HTTPServer", "HTTPClient", "Pipeline", "SQLite", "Events", "Cryptography",
        "ServiceRuntime",
      ]),
    tests(
      "ShardsTests",
      [
        "Shards", "HTTPServer", "HTTPClient", "JSON", "Pipeline", "SQLite", "Events",
        "ServiceRuntime",
      ]),
    tests("HTTPClientTests", ["HTTPClient", "HTTPServer", "Processes", "ServiceRuntime"]),
    tests(
      "AppStoreTests",
      ["AppStore", "Cryptography", "HTTPClient", "HTTPServer", "Processes", "ServiceRuntime"]),
    tests(
      "PipelineModuleTests",
      ["Pipeline", "Kafka", "SQLite", "Events", "Cryptography", "ServiceRuntime"]),
    tests(
      "OrderServiceTests",
      [
        "order-service", "AppStore", "Events", "Catalog", "Cryptography", "HTTPServer", "Kafka",
        "Pipeline",
        "SQLite", "ServiceRuntime",
      ]),
    tests(
      "VerifyServiceTests",
      [
        "verify-service", "Events", "AppStore", "Catalog", "Cryptography", "HTTPClient",
        "HTTPServer", "Kafka", "Pipeline", "Processes", "SQLite", "ServiceRuntime",
      ]),
    tests(
      "EntitlementServiceTests",
      [
        "entitlement-service", "Events", "Catalog", "Cryptography", "HTTPClient", "HTTPServer",
        "Kafka", "Pipeline", "SQLite", "ServiceRuntime",
      ]),
    tests(
      "SimulatorTests",
      [
        "app-store-simulator", "AppStore", "Catalog", "Cryptography", "HTTPClient", "HTTPServer",
        "Processes", "ServiceRuntime",
      ]),
    tests(
      "PurserTests",
      [
        "purser", "Access", "AppStore", "Catalog", "Cryptography", "Events", "HTTPServer", "Kafka",
        "Pipeline", "Processes", "SQLite", "ServiceRuntime",
      ]),
    // The documents held against the code.
    tests(
      "DocumentTests",
      [
        "order-service", "verify-service", "entitlement-service", "purser", "AppStore", "Catalog",
        "Cryptography", "Events", "HTTPServer", "ServiceRuntime",
      ]),
    tests(
      "PipelineTests",
      [
        "purser", "Events", "HTTPClient", "Kafka", "Pipeline", "Processes", "PurserClient",
        "SQLite",
        "AppStore",
        "Cryptography", "ServiceRuntime",
      ]),

    // Figures beside their limits: `make bench`. An executable of its own, never shipped.
    .target(
      name: "BenchBaselines", path: "Tests/Benchmarks/baselines",
      linkerSettings: [.linkedLibrary("sqlite3"), .linkedLibrary("crypto")]),
    .executableTarget(
      name: "bench",
      dependencies: [
        "AppStore", "BenchBaselines", "Cryptography", "Events", "HTTPServer", "Kafka", "Pipeline",
        "Processes", "SQLite", "ServiceRuntime",
      ],
      path: "Tests/Benchmarks/bench", swiftSettings: settings),
  ] + fuzzing
)
