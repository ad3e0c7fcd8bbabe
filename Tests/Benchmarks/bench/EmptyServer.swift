import HTTPServer
import ServiceRuntime

/// A process with nothing but our HTTP server, so that its CPU can be told from the generator's.
enum EmptyServer {
  static func serve(port: Int) async throws {
    var router = Router()
    router.direct(.get, "/direct") { _ in Response.json(bytes: Array("{}".utf8)) }
    router.on(.get, "/suspended", scope: nil) { _ in Response.json(bytes: Array("{}".utf8)) }
    let server = try Server(port: port, router: router, log: .silent, metrics: Metrics())
    try await server.run()
  }
}
