import HTTPClient
import HTTPServer
import ServiceRuntime
import Testing

@Suite struct `The question health` {
  /// Asks with an environment and gives what is wrong, or the faults of settings.
  private func ask(_ environment: [String: String], path: String? = nil) async -> String? {
    let answer = Completion<String?>()
    let thread = DedicatedThread(name: "health") {
      var reader = SettingsReader(environment)
      let question = Program.Question.health(prefix: "ORDER", port: 8081)
      let problem = question.run(&reader, path.map { ["--path": $0] } ?? [:])
      answer.complete(with: problem ?? reader.faults.first.map { "\($0.name) \($0.problem)" })
    }
    await thread.joined()
    return await answer.value()
  }

  private func withService(
    isReady: Bool, _ body: (Int) async throws -> Void
  ) async throws {
    let metrics = Metrics()
    var router = Router()
    router.addHealth(metrics: metrics, checks: [ReadinessCheck("broker") { isReady }])
    let server = try Server(port: 0, router: router, log: .silent, metrics: metrics)
    let running = Task { try await server.run() }
    try await body(server.port)
    await server.stop(by: .after(.seconds(1)))
    try await running.value
  }

  @Test func `a service that lives is healthy, wherever it listens`() async throws {
    try await withService(isReady: false) { port in
      for host in ["127.0.0.1", "0.0.0.0", "localhost"] {
        let problem = await ask(["ORDER_HTTP_HOST": host, "ORDER_HTTP_PORT": "\(port)"])
        #expect(problem == nil)
      }
    }
  }

  @Test func `whether it may take traffic is asked at readyz, and the answer says why not`()
    async throws
  {
    try await withService(isReady: false) { port in
      let problem = await ask(["ORDER_HTTP_PORT": "\(port)"], path: "/readyz")
      #expect(problem?.contains("503") == true && problem?.contains("broker") == true)
    }
    try await withService(isReady: true) { port in
      #expect(await ask(["ORDER_HTTP_PORT": "\(port)"], path: "/readyz") == nil)
    }
  }

  @Test func `nobody there, and a port that cannot be asked, are told in words`() async throws {
    var port = 0
    try await withService(isReady: true) { port = $0 }
    let nobody = await ask(["ORDER_HTTP_PORT": "\(port)"])
    #expect(nobody?.contains("nothing answers at http://127.0.0.1:\(port)/healthz") == true)
    #expect(nobody?.contains("ORDER_HTTP_PORT") == true)
    #expect(await ask(["ORDER_HTTP_PORT": "none"])?.contains("ORDER_HTTP_PORT") == true)
    #expect(await ask([:], path: "readyz")?.contains("/readyz") == true)
  }
}
