import AppStore
import FoundationEssentials
import HTTPServer
import ServiceRuntime
import TestSupport
import Testing

@testable import entitlement_service
@testable import order_service
@testable import verify_service

/// The API descriptions held against the services, put together as in production.
@Suite("API descriptions") struct RouteTests {
  /// A service, its description, and how its routes are found.
  struct Service: Sendable, CustomStringConvertible {
    let name: String
    let prefix: String
    let assemble: @Sendable (inout SettingsReader) throws -> [any ServiceRuntime.Service]

    var description: String { name }
    var file: String { "docs/openapi/\(name).yaml" }
  }

  static let services = [
    Service(name: "order-service", prefix: "ORDER") { reader in
      let settings = order_service.Settings(&reader, options: [:])
      try reader.finish()
      return try OrderService.services(settings, .silent, Metrics())
    },
    Service(name: "verify-service", prefix: "VERIFY") { reader in
      let settings = verify_service.Settings(&reader, options: [:])
      try reader.finish()
      return try VerifyService.services(settings, .silent, Metrics())
    },
    Service(name: "entitlement-service", prefix: "ENTITLEMENT") { reader in
      let settings = entitlement_service.Settings(&reader, options: [:])
      try reader.finish()
      return try EntitlementService.services(settings, .silent, Metrics())
    },
  ]

  /// Method, path and scope of every route, as `GET /v1/products orders`.
  private static func routes(_ service: Service) throws -> Set<String> {
    let folder = "/tmp/purser-documents-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data(AppStoreChains.chain().rootDER).write(to: URL(filePath: "\(folder)/root.der"))
    let configuration = """
      {"roots": ["root.der"], "catalog": "\(Repository.root)/deploy/demo/catalog.json",
       "apps": [{"bundleId": "com.example.app", "environments": {"Sandbox": {}}}]}
      """
    try Data(configuration.utf8).write(to: URL(filePath: "\(folder)/purser.json"))
    var reader = SettingsReader([
      "PURSER_CONFIG": "\(folder)/purser.json", "PURSER_INSECURE": "1",
      "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9", "\(service.prefix)_HTTP_PORT": "0",
      "\(service.prefix)_STORE": "\(folder)/store.sqlite",
    ])
    let server = try #require(service.assemble(&reader).lazy.compactMap { $0 as? Server }.first)
    return Set(server.routes.map { "\($0.method) \($0.pattern) \($0.scope?.rawValue ?? "none")" })
  }

  /// The same as the description has it.
  private static func described(_ service: Service) -> Set<String> {
    var found: Set<String> = []
    var path = ""
    var method = ""
    for line in paths(service) {
      if line.hasPrefix("  /"), line.hasSuffix(":") {
        path = String(line.dropFirst(2).dropLast())
      } else if line.hasPrefix("    "), !line.hasPrefix("     "), line.hasSuffix(":") {
        method = line.dropFirst(4).dropLast().uppercased()
      } else if line.hasPrefix("      x-scope: ") {
        found.insert("\(method) \(path) \(line.dropFirst("      x-scope: ".count))")
      }
    }
    return found
  }

  /// The lines below `paths:`.
  private static func paths(_ service: Service) -> [Substring] {
    let lines = Repository.text(service.file).split(separator: "\n")
    return Array(lines.drop { $0 != "paths:" }.dropFirst().prefix { $0.hasPrefix(" ") })
  }

  @Test(arguments: services)
  func `the description has every route with its method and scope, and no other`(
    service: Service
  ) throws {
    let routes = try Self.routes(service)
    #expect(routes.count > 3)
    #expect(Self.described(service) == routes)
  }

  @Test(arguments: services)
  func `every operation says its scope`(service: Service) {
    let lines = Self.paths(service)
    let operations = lines.count { line in
      ["get", "post", "put", "patch", "delete"].contains { line == "    \($0):" }
    }
    #expect(operations == lines.count { $0.hasPrefix("      x-scope: ") })
  }

  @Test(arguments: services)
  func `the description has every type of problem that the service may answer with`(
    service: Service
  ) {
    // The edge has no store, so the store's reasons are not among verify-service's.
    let folders =
      ["Services/\(service.name)/", "Shared/HTTPServer/"]
      + (service.name == "verify-service" ? [] : ["Shared/SQLite/"])
    let thrown = Repository.codeTexts.filter { file in
      folders.contains { file.path.hasPrefix($0) }
    }.flatMap { file in
      Repository.literals(after: "type: ", in: file.text).filter { word in
        !word.isEmpty && word.allSatisfy { $0.isLowercase || $0 == "-" }
      }
    }
    let listed = Repository.text(service.file).split(separator: "\n").compactMap { line in
      line.firstRange(of: "- urn:purser:problem:").map { String(line[$0.upperBound...]) }
    }
    #expect(Set(thrown).count > 10)
    #expect(Set(listed) == Set(thrown))
    #expect(listed.count == Set(listed).count, "a type stands twice")
  }

  @Test(arguments: services)
  func `every reference within the description leads somewhere`(service: Service) {
    let text = Repository.text(service.file)
    let lines = text.split(separator: "\n")
    for line in lines {
      guard let range = line.firstRange(of: "'#/components/") else { continue }
      let parts = line[range.upperBound...].prefix { $0 != "'" }.split(separator: "/")
      #expect(parts.count == 2, "\(line)")
      let section = lines.drop { $0 != "  \(parts[0]):" }.dropFirst()
        .prefix { $0.hasPrefix("    ") }
      #expect(
        section.contains { $0 == "    \(parts[1]):" },
        "\(service.file) has no \(parts.joined(separator: "/"))")
    }
  }
}
