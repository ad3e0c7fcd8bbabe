import AppStore
import Cryptography
import TestSupport
import Testing

@Suite("Verifier configuration")
struct VerifierConfigurationTests {
  private func faults(roots: [Certificate], apps: [AppIdentity]) -> [String] {
    do {
      _ = try SignedDataVerifier(roots: roots, apps: apps, clock: { 0 })
      return []
    } catch {
      return error.faults
    }
  }

  @Test func `what would trust too much or too little is refused, all faults at once`() throws {
    let root = try AppStoreChains.chain().root
    let good = AppIdentity(bundleId: "com.example", environments: [.sandbox])
    #expect(faults(roots: [root], apps: [good]).isEmpty)
    #expect(faults(roots: [], apps: []).count == 2)
    #expect(faults(roots: [root], apps: [good, good]).count == 1)
    let production = AppIdentity(bundleId: "com.example", environments: [.production])
    #expect(
      faults(roots: [root], apps: [production]) == [
        "app com.example accepts Production and so needs its appAppleId"
      ])
    let mixed = AppIdentity(
      bundleId: "com.example", appAppleId: 1, environments: [.production, .xcode],
      xcodeCertificates: [root])
    #expect(
      faults(roots: [root], apps: [mixed]) == [
        "app com.example accepts Production and so must not accept Xcode"
      ])
    let blind = AppIdentity(bundleId: "com.example", environments: [.xcode])
    #expect(faults(roots: [root], apps: [blind]).count == 1)
    let empty = AppIdentity(bundleId: "", environments: [])
    #expect(faults(roots: [root], apps: [empty]).count == 2)
  }

  @Test func `the simulator's root is never trusted together with Apple's`() throws {
    let apple = try Certificate(
      der: TestData.bytes("apple/certs/apple-root/AppleRootCA-G3.cer"))
    let other = try Certificate(
      der: TestData.bytes("apple/certs/apple-root/AppleIncRootCertificate.cer"))
    let own = try AppStoreChains.chain().root
    let app = AppIdentity(bundleId: "com.example", environments: [.sandbox])
    #expect(faults(roots: [apple, other], apps: [app]).isEmpty)
    #expect(faults(roots: [apple, own], apps: [app]).count == 1)
  }
}
