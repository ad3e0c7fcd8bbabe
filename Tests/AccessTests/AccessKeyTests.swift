import Cryptography
import HTTPServer
import ServiceRuntime
import Testing

@testable import Access

@Suite("API keys")
struct AccessKeyTests {
  private static let now: Int64 = 1_800_000_000_000

  private func principal(_ keys: AccessKeys, _ key: String, at now: Int64 = now) -> String {
    switch keys.find(key, at: now) {
    case .valid(let principal):
      "\(principal.name) \(principal.scopes.map(\.rawValue).sorted().joined(separator: "+"))"
    case .expired(let principal): "expired \(principal.name)"
    case .unknown: "unknown"
    }
  }

  private static func file() -> String {
    """
    # keys of the shop

    shop:orders+entitlements:read:\(SHA256.hex("shop-key"))
      shop:orders:\(SHA256.hex("next-key"))   expires=2027-06-01
    game:entitlements:write:\(SHA256.hex("game-key").uppercased()) expires=2027-01-15T08:00:00Z
    """
  }

  @Test func `a key is found by its hash, several may have one name`() throws {
    let keys = try AccessKeys(parsing: Self.file())
    #expect(principal(keys, "shop-key") == "shop entitlements:read+orders")
    #expect(principal(keys, "next-key") == "shop orders")
    #expect(principal(keys, "SHOP-KEY") == "unknown")
    #expect(principal(keys, "") == "unknown")
  }

  @Test func `a key is refused from its expiry on, to the millisecond`() throws {
    let keys = try AccessKeys(parsing: Self.file())
    // 2027-01-15T08:00:00Z.
    let expiry: Int64 = 1_800_000_000_000
    #expect(principal(keys, "game-key", at: expiry - 1) == "game entitlements:write")
    #expect(principal(keys, "game-key", at: expiry) == "expired game")
    #expect(principal(keys, "shop-key", at: .max) == "shop entitlements:read+orders")
  }

  @Test func `every fault of a key file is named by its line, and no key is quoted`() {
    let text = """
      a:orders:\(SHA256.hex("a"))
      no colon
      b:everything:\(SHA256.hex("b"))
      c:orders:abc
      e::\(SHA256.hex("e"))
      f:orders:\(SHA256.hex("a"))
      :orders:\(SHA256.hex("g"))
      a name:orders:\(SHA256.hex("h"))
      i:orders:\(SHA256.hex("i")) expires=tomorrow
      j:orders:\(SHA256.hex("j")) until=2027-01-01
      k:orders:\(SHA256.hex("k")) expires=2027-01-01 expires=2028-01-01
      """
    let error = #expect(throws: AccessKeysError.self) { _ = try AccessKeys(parsing: text) }
    #expect(error?.faults.map(\.line) == [2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    #expect(error?.description.contains(SHA256.hex("a")) == false)
  }

  @Test func `a line that is written is read as it was`() throws {
    for expires in [nil, 1_800_000_000_250] as [Int64?] {
      let line = try #require(
        KeyLine(
          name: "shop.a-b_1", scopes: [.orders, .entitlementsRead], hash: SHA256.hash("k"),
          expires: expires))
      #expect(try AccessKeys(parsing: line.text).lines == [line])
    }
    #expect(KeyLine(name: "a b", scopes: [.orders], hash: SHA256.hash("k"), expires: nil) == nil)
    #expect(KeyLine(name: "a", scopes: [], hash: SHA256.hash("k"), expires: nil) == nil)
  }
}
