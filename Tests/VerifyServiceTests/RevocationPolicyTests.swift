import AppStore
import Catalog
import Cryptography
import HTTPClient
import ServiceRuntime
import TestSupport
import Testing

@testable import verify_service

@Suite("The policy of revocation checks") struct RevocationPolicyTests {
  /// Nobody can be asked.
  private func check(now: Int64 = AppStoreChains.now) -> RevocationCheck {
    RevocationCheck(
      RevocationChecker(timing: APITiming { now }) { (_) throws(HTTPClientError) in
        throw HTTPClientError(kind: .cannotConnect, origin: "test", detail: "away")
      }, metrics: Metrics()
    ) { now }
  }

  private func certificates() throws -> [Certificate] {
    let chain = try AppStoreChains.chain()
    return [chain.leaf, chain.intermediate, chain.root]
  }

  @Test func `off asks nobody, soft goes on without an answer, hard tries again`() async throws {
    let check = check()
    let chain = try certificates()
    #expect(check.known(chain, .off) == .passed)
    #expect(await check.ask(chain, .off) == .passed)
    guard case .unknown = check.known(chain, .soft) else {
      Issue.record("soft did not want to ask")
      return
    }
    #expect(await check.ask(chain, .soft) == .passed)
    guard case .unknown = await check.ask(chain, .hard) else {
      Issue.record("hard went on without an answer")
      return
    }
  }

  @Test func `Xcode's single certificate has no issuer who could be asked`() async throws {
    #expect(await check().ask([try certificates()[0]], .hard) == .passed)
  }

  @Test func `certificates that have run out are refused by hard, as nobody speaks of them`()
    async throws
  {
    let check = check(now: AppStoreChains.now + 3651 * AppStoreChains.day)
    #expect(await check.ask(try certificates(), .soft) == .passed)
    guard case .refused("certificate-expired", _) = await check.ask(try certificates(), .hard)
    else {
      Issue.record("hard took a chain that has run out")
      return
    }
  }
}
