import AppStore
import FoundationEssentials
import HTTPServer
import ServiceRuntime
import TestSupport

@testable import entitlement_service
@testable import order_service
@testable import verify_service

/// A service put together as in production, on a store of its own and without a broker.
struct AssembledService: Sendable, CustomStringConvertible {
  let name: String
  let prefix: String
  let assemble: @Sendable (inout SettingsReader) throws -> [any ServiceRuntime.Service]

  var description: String { name }
  var file: String { "docs/openapi/\(name).yaml" }

  static let all = [
    AssembledService(name: "order-service", prefix: "ORDER") { reader in
      let settings = order_service.Settings(&reader, options: [:])
      try reader.finish()
      return try OrderService.services(settings, .silent, Metrics())
    },
    AssembledService(name: "verify-service", prefix: "VERIFY") { reader in
      let settings = verify_service.Settings(&reader, options: [:])
      try reader.finish()
      return try VerifyService.services(settings, .silent, Metrics())
    },
    AssembledService(name: "entitlement-service", prefix: "ENTITLEMENT") { reader in
      let settings = entitlement_service.Settings(&reader, options: [:])
      try reader.finish()
      return try EntitlementService.services(settings, .silent, Metrics())
    },
  ]

  /// The server of the service; `files` are written into its folder, `access` are its settings of
  /// access.
  func server(
    access: [String: String] = ["PURSER_INSECURE": "1"], files: [String: String] = [:]
  ) throws -> Server? {
    let folder = TestFolder.path("documents")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data(AppStoreChains.chain().rootDER).write(to: URL(filePath: "\(folder)/root.der"))
    let configuration = """
      {"roots": ["root.der"], "catalog": "\(Repository.root)/deploy/demo/catalog.json",
       "apps": [{"bundleId": "com.example.app", "environments": {"Sandbox": {}}}]}
      """
    try Data(configuration.utf8).write(to: URL(filePath: "\(folder)/purser.json"))
    for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: "\(folder)/\(name)")) }
    var settings = [
      "PURSER_CONFIG": "\(folder)/purser.json", "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9",
      "\(prefix)_HTTP_PORT": "0", "\(prefix)_STORE": "\(folder)/store.sqlite",
    ]
    for (name, value) in access { settings[name] = value.replacing("FOLDER", with: folder) }
    var reader = SettingsReader(settings)
    return try assemble(&reader).lazy.compactMap { $0 as? Server }.first
  }
}
