import AppStore
import Testing

@Suite("API limiter")
struct APILimiterTests {
  private func limiter(
    _ clock: APIClock, longestWait: Duration = .zero, share: Double = 1, limit: Int = 4096
  ) -> APILimiter {
    APILimiter(share: share, longestWait: longestWait, limit: limit, timing: clock.timing)
  }

  /// How many requests pass at once.
  private func passes(
    _ limiter: APILimiter, _ environment: AppEnvironment = .production,
    _ endpoint: APIEndpoint = .transactionInfo, app: String = "com.example", atMost: Int = 1000
  ) async -> Int {
    for count in 0..<atMost {
      let error = await apiError { () throws(APIError) in
        try await limiter.pass(app, environment, endpoint)
      }
      if error != nil { return count }
    }
    return atMost
  }

  @Test func `each endpoint has the rate that Apple documents`() async {
    for endpoint in APIEndpoint.allCases {
      let clock = APIClock()
      let limiter = limiter(clock)
      _ = await passes(limiter, .production, endpoint)
      clock.advance(by: .seconds(5))
      let refilled = await passes(limiter, .production, endpoint)
      let burst = max(5, Int(endpoint.requestsPerSecond))
      #expect(refilled == min(burst, Int(5 * endpoint.requestsPerSecond)), "\(endpoint)")
    }
    #expect(APIEndpoint.transactionInfo.requestsPerSecond == 50)
    #expect(APIEndpoint.extendRenewal.requestsPerSecond == 20)
    #expect(APIEndpoint.refundHistory.requestsPerSecond == 10)
    #expect(APIEndpoint.massExtension.requestsPerSecond == 1)
  }

  @Test func `an hour lets no more pass than Apple allows`() async {
    for (environment, allowed) in [(AppEnvironment.production, 3600), (.sandbox, 360)] {
      let clock = APIClock()
      let limiter = APILimiter(longestWait: .zero, timing: clock.timing)
      var passed = await passes(limiter, environment, .testNotification)
      for _ in 0..<3600 {
        clock.advance(by: .seconds(1))
        passed += await passes(limiter, environment, .testNotification)
      }
      #expect(passed <= allowed && passed > allowed * 9 / 10, "\(environment)")
    }
  }

  @Test func `the sandbox has a tenth`() async {
    let clock = APIClock()
    let limiter = limiter(clock)
    _ = await passes(limiter, .sandbox)
    clock.advance(by: .milliseconds(800))
    #expect(await passes(limiter, .sandbox) == 4)
  }

  @Test func `apps, environments and endpoints do not take from each other`() async {
    let limiter = limiter(APIClock())
    #expect(await passes(limiter) == 50)
    #expect(await passes(limiter) == 0)
    #expect(await passes(limiter, .sandbox) == 5)
    #expect(await passes(limiter, .production, .transactionHistory) == 50)
    #expect(await passes(limiter, app: "com.example.b") == 50)
  }

  @Test func `a turn is waited for in order, within the bound`() async {
    let clock = APIClock()
    let limiter = limiter(clock, longestWait: .milliseconds(100))
    for _ in 0..<60 {
      let error = await apiError { () throws(APIError) in
        try await limiter.pass("com.example", .production, .transactionInfo)
      }
      #expect(error == nil)
    }
    // Fifty at once, then one each 20 ms.
    #expect(clock.sleeps == Array(repeating: .milliseconds(20), count: 10))
  }

  @Test func `too long a wait is refused at once, with the time`() async {
    let clock = APIClock()
    let limiter = limiter(clock, longestWait: .seconds(5))
    _ = await passes(limiter, .sandbox, .testNotification, atMost: 5)
    let error = await apiError { () throws(APIError) in
      try await limiter.pass("com.example", .sandbox, .testNotification)
    }
    #expect(error?.kind == .limited && error?.retryAfter == .seconds(10))
    #expect(error?.isRetryable == true && error?.isVerdict == false && clock.sleeps.isEmpty)
    // The refused one took nothing.
    clock.advance(by: .seconds(10))
    #expect(await passes(limiter, .sandbox, .testNotification, atMost: 1) == 1)
  }

  @Test func `silence that Apple asked for holds for that endpoint only`() async {
    let clock = APIClock()
    let limiter = limiter(clock)
    limiter.pause("com.example", .production, .transactionInfo, for: .seconds(60))
    #expect(await passes(limiter) == 0)
    #expect(await passes(limiter, .production, .transactionHistory) == 50)
    clock.advance(by: .seconds(59))
    #expect(await passes(limiter) == 0)
    clock.advance(by: .seconds(1))
    #expect(await passes(limiter) > 0)
  }

  @Test func `a cancelled wait gives its turn back`() async {
    let clock = APIClock()
    let limiter = limiter(clock, longestWait: .seconds(60))
    _ = await passes(limiter, .sandbox, .testNotification, atMost: 5)
    let task = Task {
      // Cancelled before it begins, so that no race decides.
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return await apiError { () throws(APIError) in
        try await limiter.pass("com.example", .sandbox, .testNotification)
      }
    }
    #expect(await task.value?.kind == .cancelled)
    _ = await apiError { () throws(APIError) in
      try await limiter.pass("com.example", .sandbox, .testNotification)
    }
    #expect(clock.sleeps == [.seconds(10)])
  }

  @Test func `many apps do not make it grow, and a used up one is not forgotten`() async {
    let limiter = limiter(APIClock(), limit: 8)
    #expect(await passes(limiter, app: "busy") == 50)
    for number in 0..<100 { #expect(await passes(limiter, app: "app-\(number)", atMost: 1) == 1) }
    #expect(await passes(limiter, app: "busy") == 0)
  }
}
