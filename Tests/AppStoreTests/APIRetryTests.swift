import HTTPClient
import Synchronization
import Testing

@testable import AppStore

@Suite("API retries")
struct APIRetryTests {
  private let good = HTTPResponse.json("{\"signedTransactionInfo\":\"a\"}")

  private func ask(_ world: APIWorld) async throws -> APIError? {
    let client = try world.client()
    return await apiError { () throws(APIError) in
      _ = try await client.answer(to: .transactionInfo("1"))
    }
  }

  @Test func `a burst of retryable errors is not an error to the caller`() async throws {
    let world = try APIWorld(
      ScriptedApple(.refusal(5_000_001), .refusal(4_040_002), .json("{"), good))
    #expect(try await ask(world) == nil)
    #expect(world.apple.asked.count == 4)
    // Half of 250, 500 and 1000 ms, as chance says 0.5.
    #expect(
      world.clock.sleeps == [.milliseconds(125), .milliseconds(250), .milliseconds(500)])
  }

  @Test func `tries are bounded and the last failure is told`() async throws {
    let world = try APIWorld(ScriptedApple(.refusal(5_000_001)))
    #expect(try await ask(world)?.code == .generalInternalRetryable)
    #expect(world.apple.asked.count == 4 && world.clock.sleeps.count == 3)
  }

  @Test func `a connection that breaks is tried again`() async throws {
    let fault = HTTPClientError(kind: .cut, origin: "https://a", detail: "d")
    let world = try APIWorld(ScriptedApple([.failure(fault), .success(good)]))
    #expect(try await ask(world) == nil)
    #expect(world.apple.asked.count == 2)
  }

  @Test(arguments: [4_040_010, 4_000_006, 5_000_000, 4_040_001, 4_030_004] as [Int64])
  func `a final error is never tried again`(code: Int64) async throws {
    let world = try APIWorld(ScriptedApple(.refusal(code), good))
    #expect(try await ask(world)?.code?.rawValue == code)
    #expect(world.apple.asked.count == 1 && world.clock.sleeps.isEmpty)
  }

  @Test func `a refused token is not tried again, but the next request signs anew`()
    async throws
  {
    let world = try APIWorld(ScriptedApple(HTTPResponse(status: 401), good))
    #expect(try await ask(world)?.kind == .unauthorized)
    #expect(world.apple.asked.count == 1)
    #expect(try await ask(world) == nil)
    let bearers = world.apple.asked.map { $0.headers.first { $0.0 == "Authorization" }?.1 }
    #expect(bearers.count == 2 && bearers[0] != bearers[1])
  }

  @Test func `Retry-After is the least pause`() async throws {
    let world = try APIWorld(
      ScriptedApple(.refusal(4_290_000, retryAfter: String(APIClock.start + 3000)), good))
    #expect(try await ask(world) == nil)
    #expect(world.clock.sleeps.first == .milliseconds(3125))
  }

  @Test func `a long Retry-After is handed to the caller`() async throws {
    let world = try APIWorld(
      ScriptedApple(.refusal(4_290_000, retryAfter: String(APIClock.start + 31_000)), good))
    let error = try await ask(world)
    #expect(error?.code == .rateLimitExceeded && error?.retryAfter == .seconds(31))
    #expect(world.apple.asked.count == 1 && world.clock.sleeps.isEmpty)

    // Until then nothing is sent at all.
    let next = try await ask(world)
    #expect(next?.kind == .limited && next?.retryAfter == .seconds(31))
    #expect(world.apple.asked.count == 1)
    world.clock.advance(by: .seconds(31))
    #expect(try await ask(world) == nil)
  }

  @Test func `pauses double up to a bound and lie anywhere below it`() {
    var policy = APIRetryPolicy()
    policy.attempts = 100
    let error = APIError(.garbled, message: "")
    func pause(_ tries: Int, _ random: Double) -> Duration? {
      policy.pause(after: error, tries: tries, random: random)
    }
    #expect(pause(1, 0) == .zero && pause(9, 0) == .zero)
    #expect(pause(1, 1) == .milliseconds(250) && pause(3, 1) == .seconds(1))
    #expect(pause(6, 1) == .seconds(8) && pause(99, 1) == .seconds(8))
    #expect(pause(100, 1) == nil)
  }

  @Test func `no try begins after the time for all`() async throws {
    var world = try APIWorld(
      ScriptedApple(.refusal(4_290_000, retryAfter: "25")), clock: APIClock(random: 0))
    world.context.retry.attempts = 100
    world.context.limiter = APILimiter(longestWait: .seconds(30), timing: world.clock.timing)
    #expect(try await ask(world)?.code == .rateLimitExceeded)
    #expect(world.apple.asked.count == 3 && world.clock.now() - APIClock.start <= 60_000)
  }

  @Test func `every try is told, with what comes next`() async throws {
    let tries = Mutex<[APITry]>([])
    var world = try APIWorld(ScriptedApple(.refusal(5_000_001), good))
    world.context.observe = { told in tries.withLock { $0.append(told) } }
    #expect(try await ask(world) == nil)
    let told = tries.withLock { $0 }
    #expect(
      told.map(\.number) == [1, 2] && told.map(\.endpoint) == [.transactionInfo, .transactionInfo])
    #expect(told.map(\.failure?.code) == [.generalInternalRetryable, nil])
    #expect(told.map(\.pause) == [.milliseconds(125), nil])
  }

  @Test func `access is checked without needing a transaction`() async throws {
    for answer in [good, .refusal(4_040_010), .refusal(4_000_006)] {
      let client = try APIWorld(ScriptedApple(answer)).client()
      #expect(await apiError { () throws(APIError) in try await client.checkAccess() } == nil)
    }
    for answer in [HTTPResponse(status: 401), .refusal(4_000_002), .refusal(4_040_003)] {
      let client = try APIWorld(ScriptedApple(answer)).client()
      #expect(await apiError { () throws(APIError) in try await client.checkAccess() } != nil)
    }
  }

  @Test func `a cancelled task ends its pauses`() async throws {
    var world = try APIWorld(ScriptedApple(.refusal(5_000_001)))
    world.context.retry.attempts = .max
    world.context.retry.firstPause = .zero
    let client = try world.client()
    let task = Task {
      // Cancelled before it begins, so that no race decides.
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await apiError { () throws(APIError) in
        _ = try await client.answer(to: .transactionInfo("1"))
      }
    }
    #expect(await task.value?.kind == .cancelled)
  }
}
