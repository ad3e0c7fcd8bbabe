import AppStore
import Cryptography
import TestSupport
import Testing

@Suite("Certificate chains")
struct CertificateChainTests {
  static let before = AppStoreChains.now - AppStoreChains.day
  static let after = AppStoreChains.now + AppStoreChains.day

  private func refusal(
    _ chain: SigningChain, roots: [Certificate]? = nil
  ) -> String? {
    #expect(throws: ChainFault.self) {
      try CertificateChain.verify(
        leaf: chain.leaf, intermediate: chain.intermediate, roots: roots ?? [chain.root])
    }?.detail
  }

  @Test func `a good chain gives the leaf's key and the time in which all are valid`() throws {
    var plan = AppStoreChains.plan()
    plan.leafNotAfter = Self.after
    let chain = try plan.make()
    let verified = try CertificateChain.verify(
      leaf: chain.leaf, intermediate: chain.intermediate, roots: [chain.root])
    #expect(verified.leafKey.spki == chain.leaf.publicKey.spki)
    #expect(verified.validFrom == chain.leaf.notBefore)
    #expect(verified.validThrough == chain.leaf.notAfter + 999)
  }

  @Test func `several roots may be pinned, and one of them must be the end`() throws {
    let chain = try AppStoreChains.chain()
    let other = try AppStoreChains.plan(name: "Other").make()
    #expect(throws: Never.self) {
      try CertificateChain.verify(
        leaf: chain.leaf, intermediate: chain.intermediate, roots: [other.root, chain.root])
    }
    _ = refusal(chain, roots: [other.root])
    _ = refusal(chain, roots: [])
  }

  @Test func `a root of the same name with another key is not the root`() throws {
    let impostor = try AppStoreChains.plan().make()
    let genuine = try AppStoreChains.chain()
    #expect(impostor.root.subject == genuine.root.subject)
    _ = refusal(impostor, roots: [genuine.root])
  }

  @Test func `an intermediate must be an authority that may sign certificates`() throws {
    var plan = AppStoreChains.plan()
    plan.intermediateConstraints = .basicConstraints(isAuthority: false)
    _ = refusal(try plan.make())
    plan.intermediateConstraints = nil
    _ = refusal(try plan.make())
    plan = AppStoreChains.plan()
    plan.intermediateUsage = .digitalSignature
    _ = refusal(try plan.make())
  }

  @Test func `a leaf must be signed by the intermediate it comes with`() throws {
    let chain = try AppStoreChains.chain()
    let other = try AppStoreChains.plan().make()
    #expect(throws: ChainFault.self) {
      try CertificateChain.verify(
        leaf: chain.leaf, intermediate: other.intermediate, roots: [chain.root, other.root])
    }
    #expect(throws: ChainFault.self) {
      try CertificateChain.verify(
        leaf: chain.intermediate, intermediate: chain.leaf, roots: [chain.root])
    }
  }

  @Test func `an unknown critical extension is refused, an unknown other one is not`() throws {
    var plan = AppStoreChains.plan()
    plan.leafExtensions = [
      CertificateExtension(oid: "1.2.3.4.5", isCritical: true, value: [5, 0])
    ]
    _ = refusal(try plan.make())
    plan.leafExtensions[0].isCritical = false
    let chain = try plan.make()
    #expect(throws: Never.self) {
      try CertificateChain.verify(
        leaf: chain.leaf, intermediate: chain.intermediate, roots: [chain.root])
    }
  }

  @Test func `an issuer cannot grant more intermediates than its path length allows`() throws {
    // The leaf of one chain, made an authority, signs below an intermediate of path length 0.
    let chain = try AppStoreChains.chain()
    let subKey = try PrivateKey(generate: .p384)
    let sub = try CertificateBuilder(
      subject: [("CN", "Sub")],
      issuer: [("CN", "Purser Tests Intermediate"), ("O", "Purser Tests")],
      notBefore: Self.before, notAfter: Self.after, publicKey: subKey.publicKey,
      extensions: [.basicConstraints(isAuthority: true), .certificateSigning]
    ).signed(by: chain.intermediateKey)
    let leafKey = try PrivateKey(generate: .p256)
    let leaf = try CertificateBuilder(
      subject: [("CN", "Leaf")], issuer: [("CN", "Sub")], notBefore: Self.before,
      notAfter: Self.after, publicKey: leafKey.publicKey,
      extensions: [.basicConstraints(isAuthority: false), .digitalSignature]
    ).signed(by: subKey)
    for roots in [[chain.root], [chain.root, chain.intermediate]] {
      #expect(throws: ChainFault.self) {
        try CertificateChain.verify(leaf: leaf, intermediate: sub, roots: roots)
      }
    }
  }
}
