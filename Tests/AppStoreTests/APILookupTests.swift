import HTTPClient
import ServiceRuntime
import Synchronization
import Testing

@testable import AppStore

@Suite("Environment look-up")
struct APILookupTests {
  /// Plays both environments: what each answers, and in which order they were asked.
  private final class Hosts: Sendable {
    let asked = Mutex<[String]>([])
    let answers: Mutex<[String: HTTPResponse]>

    init(production: HTTPResponse, sandbox: HTTPResponse) {
      answers = Mutex(["production": production, "sandbox": sandbox])
    }

    func answer(_ request: HTTPRequest) -> HTTPResponse {
      let host = request.url.contains("sandbox") ? "sandbox" : "production"
      asked.withLock { $0.append(host) }
      return answers.withLock { $0[host] } ?? HTTPResponse(status: 500)
    }

    func takeAsked() -> [String] {
      asked.withLock { asked in
        defer { asked = [] }
        return asked
      }
    }
  }

  private static let found = HTTPResponse.json("{\"signedTransactionInfo\":\"signed\"}")
  private static let unknown = HTTPResponse.refusal(4_040_010)

  private func lookup(
    _ hosts: Hosts, _ environments: [AppEnvironment] = [.sandbox, .production]
  ) throws -> EnvironmentLookup {
    let world = try APIWorld(ScriptedApple())
    let context = APIContext(timing: world.clock.timing) { (request) throws(HTTPClientError) in
      hosts.answer(request)
    }
    return EnvironmentLookup(
      try environments.map {
        try AppStoreServerAPI(
          bundleId: "com.example", environment: $0, key: world.key, context: context)
      })
  }

  private func error(_ lookup: EnvironmentLookup) async -> APIError? {
    await apiError { () throws(APIError) in _ = try await lookup.find("1") }
  }

  @Test func `production is asked first and is enough`() async throws {
    let hosts = Hosts(production: Self.found, sandbox: Self.found)
    let found = try await lookup(hosts).find("1")
    #expect(found.environment == .production && found.answer.signedTransactionInfo == "signed")
    #expect(hosts.takeAsked() == ["production"])
  }

  @Test func `an id unknown in production is looked for in the sandbox, once`() async throws {
    let hosts = Hosts(production: Self.unknown, sandbox: Self.found)
    let lookup = try lookup(hosts)
    #expect(lookup.remembered(for: "1") == nil)
    #expect(try await lookup.find("1").environment == .sandbox)
    #expect(hosts.takeAsked() == ["production", "sandbox"])
    #expect(lookup.remembered(for: "1")?.environment == .sandbox)
    #expect(try await lookup.find("1").environment == .sandbox)
    #expect(hosts.takeAsked() == ["sandbox"])
    #expect(try await lookup.find("2").environment == .sandbox)
    #expect(hosts.takeAsked() == ["production", "sandbox"])
  }

  @Test func `an id that nobody knows is final and names who was asked`() async throws {
    let hosts = Hosts(production: Self.unknown, sandbox: Self.unknown)
    let error = await error(try lookup(hosts))
    #expect(error?.kind == .unknownTransaction(asked: [.production, .sandbox]))
    #expect(error?.isVerdict == true && error?.isRetryable == false)
    #expect(error?.advice.contains("grant nothing") == true)
  }

  @Test func `the sandbox is not asked where the app does not allow it`() async throws {
    let hosts = Hosts(production: Self.unknown, sandbox: Self.found)
    let error = await error(try lookup(hosts, [.production]))
    #expect(error?.kind == .unknownTransaction(asked: [.production]))
    #expect(error?.message.contains("sandbox was not asked") == true)
    #expect(hosts.takeAsked() == ["production"])
  }

  @Test func `an app that was never released is looked up in the sandbox alone`() async throws {
    let hosts = Hosts(production: HTTPResponse(status: 401), sandbox: Self.found)
    #expect(try await lookup(hosts, [.sandbox]).find("1").environment == .sandbox)
    #expect(hosts.takeAsked() == ["sandbox"])
  }

  @Test func `an unreleased app's purchase is found in the sandbox though production says 401`()
    async throws
  {
    let hosts = Hosts(production: HTTPResponse(status: 401), sandbox: Self.found)
    let lookup = try lookup(hosts)
    #expect(try await lookup.find("1").environment == .sandbox)
    #expect(hosts.takeAsked() == ["production", "sandbox"])
    // What was found is remembered: production is not asked again.
    #expect(try await lookup.find("1").environment == .sandbox)
    #expect(hosts.takeAsked() == ["sandbox"])
  }

  @Test(arguments: [
    HTTPResponse.refusal(4_040_010), .refusal(5_000_000), HTTPResponse(status: 401),
  ])
  func `after a 401 of production nothing that the sandbox says makes an id unknown`(
    sandbox: HTTPResponse
  ) async throws {
    let hosts = Hosts(production: HTTPResponse(status: 401), sandbox: sandbox)
    let lookup = try lookup(hosts)
    for hint in [nil, AppEnvironment.sandbox] {
      let error = await apiError { () throws(APIError) in
        _ = try await lookup.find("1", hint: hint)
      }
      #expect(error?.isVerdict == false, "the proof is kept and asked about again")
      if hint == nil { #expect(error?.kind == .unauthorized && error?.environment == .production) }
    }
  }

  @Test(arguments: [404, 500, 503, 4_040_001, 4_040_005, 4_290_000, 5_000_000, 5_000_001])
  func `no other answer of production leads to the sandbox`(answer: Int) async throws {
    let response =
      answer < 1000 ? HTTPResponse(status: answer) : HTTPResponse.refusal(Int64(answer))
    let hosts = Hosts(production: response, sandbox: Self.found)
    let error = await error(try lookup(hosts))
    #expect(error?.environment == .production)
    #expect(!hosts.takeAsked().contains("sandbox"))
  }

  @Test func `a remembered environment that denies the id is believed no more`() async throws {
    let hosts = Hosts(production: Self.unknown, sandbox: Self.found)
    let lookup = try lookup(hosts)
    _ = try await lookup.find("1")
    _ = hosts.takeAsked()
    hosts.answers.withLock { $0 = ["production": Self.found, "sandbox": Self.unknown] }
    #expect(try await lookup.find("1").environment == .production)
    #expect(hosts.takeAsked() == ["sandbox", "production"])
    hosts.answers.withLock { $0 = ["production": Self.unknown, "sandbox": Self.unknown] }
    #expect(await error(lookup)?.status == 404)
    #expect(lookup.remembered(for: "1") == nil)
  }

  @Test func `a client's word and signed data decide the order, not the answer`() async throws {
    let hosts = Hosts(production: Self.found, sandbox: Self.unknown)
    let lookup = try lookup(hosts)
    #expect(try await lookup.find("1", hint: .sandbox).environment == .production)
    #expect(hosts.takeAsked() == ["sandbox", "production"])
    // What was found weighs more than what is said.
    #expect(try await lookup.find("1", hint: .sandbox).environment == .production)
    #expect(try await lookup.find("2", hint: .xcode).environment == .production)
    #expect(hosts.takeAsked() == ["production", "production"])
    lookup.remember(.sandbox, for: "3")
    #expect(lookup.remembered(for: "3")?.environment == .sandbox)
  }

  @Test func `what is remembered is bounded, and what is used stays`() {
    let memory = RecentMemory<Int, Int>(limit: 100)
    for number in 0..<10_000 {
      memory.set(number, for: number)
      #expect(memory[0] == 0 || number == 0)
      #expect(memory.count <= 100)
    }
    #expect(memory[9_999] == 9_999 && memory[5_000] == nil)
    memory.forget(0)
    #expect(memory[0] == nil)
  }
}
