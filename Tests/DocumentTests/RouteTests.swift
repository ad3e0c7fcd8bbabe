import HTTPServer
import Testing

/// The API descriptions held against the services, put together as in production.
@Suite("API descriptions") struct RouteTests {
  static let services = AssembledService.all

  /// Method, path and scope of every route, as `GET /v1/products orders`.
  private static func routes(_ service: AssembledService) throws -> Set<String> {
    let server = try #require(try service.server())
    return Set(server.routes.map { "\($0.method) \($0.pattern) \($0.scope?.rawValue ?? "none")" })
  }

  /// The same as the description has it.
  private static func described(_ service: AssembledService) -> Set<String> {
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
  private static func paths(_ service: AssembledService) -> [Substring] {
    let lines = Repository.text(service.file).split(separator: "\n")
    return Array(lines.drop { $0 != "paths:" }.dropFirst().prefix { $0.hasPrefix(" ") })
  }

  @Test(arguments: services)
  func `the description has every route with its method and scope, and no other`(
    service: AssembledService
  ) throws {
    let routes = try Self.routes(service)
    #expect(routes.count > 3)
    #expect(Self.described(service) == routes)
  }

  @Test(arguments: services)
  func `every operation says its scope`(service: AssembledService) {
    let lines = Self.paths(service)
    let operations = lines.count { line in
      ["get", "post", "put", "patch", "delete"].contains { line == "    \($0):" }
    }
    #expect(operations == lines.count { $0.hasPrefix("      x-scope: ") })
  }

  @Test(arguments: services)
  func `the description has every type of problem that the service may answer with`(
    service: AssembledService
  ) {
    let folders =
      [
        "Services/\(service.name)/", "Shared/HTTPServer/", "Shared/Access/", "Shared/SQLite/",
        "Shared/Shards/",
      ]
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
  func `every reference within the description leads somewhere`(service: AssembledService) {
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
