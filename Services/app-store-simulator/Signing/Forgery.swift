import AppStore
import Cryptography

/// Makes signed text that a good verifier refuses, and one that it must keep.
struct Forgery {
  /// What is wrong with it.
  enum Kind: String, CaseIterable, Sendable {
    /// Another chain with the same names, down to its own root.
    case otherRoot = "other-root"
    /// One bit of the signature is turned.
    case badSignature = "bad-signature"
    /// The payload was changed after signing.
    case tamperedPayload = "tampered-payload"
    case wrongBundle = "wrong-bundle"
    case wrongEnvironment = "wrong-environment"
    /// As Xcode's local testing signs: one certificate of its own.
    case xcode
    /// The leaf certificate ended before the signing.
    case expiredLeaf = "expired-leaf"
    /// The leaf lacks Apple's marker extension.
    case missingMarker = "missing-marker"
    /// Genuine, of a notification type that nobody knows yet.
    case unknownType = "unknown-type"
  }

  /// What is forged.
  enum Object: String, CaseIterable, Sendable {
    case transaction
    case notification
  }

  private let signer: StoreSigner
  private let now: Int64

  init(_ signer: StoreSigner, at now: Int64) {
    self.signer = signer
    self.now = now
  }

  func make(_ kind: Kind, _ object: Object, of happening: Happening) throws -> String {
    switch kind {
    case .otherRoot:
      return try sign(object, happening, by: chain { _ in })
    case .expiredLeaf:
      return try sign(
        object, happening,
        by: chain(under: signer.chain) { [now] in
          $0.leafNotAfter = now - 86_400_000
        })
    case .missingMarker:
      return try sign(object, happening, by: chain(under: signer.chain) { $0.leafMarker = nil })
    case .badSignature:
      return turned(try sign(object, happening, by: signer.chain))
    case .tamperedPayload:
      return try tampered(try sign(object, happening, by: signer.chain))
    case .wrongBundle:
      return try sign(
        object, happening, by: signer.chain, bundleId: signer.bundleId + ".other")
    case .wrongEnvironment:
      let other: AppEnvironment = signer.environment == .sandbox ? .production : .sandbox
      return try sign(object, happening, by: signer.chain, environment: other)
    case .xcode:
      return try signAsXcode(object, happening)
    case .unknownType:
      let unknown = Happening(
        type: NotificationType(rawValue: "SOMETHING_NEW"),
        subtype: NotificationSubtype(rawValue: "NEVER_SEEN"), at: now,
        transaction: happening.transaction, renewalInfo: happening.renewalInfo,
        status: happening.status)
      return try sign(.notification, unknown, by: signer.chain)
    }
  }

  private func sign(
    _ object: Object, _ happening: Happening, by chain: SigningChain, bundleId: String? = nil,
    environment: AppEnvironment? = nil
  ) throws -> String {
    let forger = StoreSigner(
      chain: chain, bundleId: bundleId ?? signer.bundleId,
      environment: environment ?? signer.environment, appAppleId: signer.appAppleId)
    var transaction = happening.transaction ?? TransactionPayload()
    transaction.bundleId = forger.bundleId
    transaction.environment = forger.environment
    guard object == .notification else { return try forger.sign(transaction, at: now) }
    var info = happening.renewalInfo
    info?.environment = forger.environment
    let told = Happening(
      type: happening.type, subtype: happening.subtype, at: now, transaction: transaction,
      renewalInfo: info, status: happening.status)
    return try forger.sign(told, uuid: UUIDs.version4())
  }

  /// A chain of our own making; under the simulator's root if one is given.
  private func chain(
    under genuine: SigningChain? = nil, _ change: (inout SigningChainPlan) -> Void
  ) throws -> SigningChain {
    var plan = SigningChainPlan(
      name: "Purser App Store Simulator", notBefore: signer.chain.root.notBefore,
      notAfter: signer.chain.root.notAfter)
    plan.authority = genuine.map { ($0.root, $0.rootKey) }
    change(&plan)
    return try plan.make()
  }

  private func signAsXcode(_ object: Object, _ happening: Happening) throws -> String {
    let key = try PrivateKey(generate: .p256)
    let name = [("CN", "StoreKit Testing in Xcode")]
    let certificate = try CertificateBuilder(
      subject: name, issuer: name, notBefore: now - 86_400_000, notAfter: now + 366 * 86_400_000,
      publicKey: key.publicKey, extensions: [.basicConstraints(isAuthority: false)]
    ).signed(by: key)
    let xcode = JWSSigner(leafKey: key, certificates: [certificate])
    var transaction = happening.transaction ?? TransactionPayload()
    transaction.environment = .xcode
    transaction.signedDate = now
    let signed = try xcode.sign(transaction)
    guard object == .notification else { return signed }
    var payload = NotificationPayload()
    payload.notificationType = happening.type
    payload.subtype = happening.subtype
    payload.notificationUUID = UUIDs.version4()
    payload.version = "2.0"
    payload.signedDate = now
    var data = NotificationData()
    data.bundleId = signer.bundleId
    data.environment = .xcode
    data.signedTransactionInfo = signed
    payload.data = data
    return try xcode.sign(payload)
  }

  private func turned(_ jws: String) -> String {
    var parts = jws.split(separator: ".").map { String($0) }
    guard parts.count == 3, var signature = Base64URL.decode(parts[2]) else { return jws }
    signature[40] ^= 1
    parts[2] = Base64URL.encode(signature)
    return parts.joined(separator: ".")
  }

  /// Another time of signing, under the former signature.
  private func tampered(_ jws: String) throws -> String {
    var parts = jws.split(separator: ".").map { String($0) }
    guard parts.count == 3, let payload = Base64URL.decode(parts[1]) else { return jws }
    let text = String(decoding: payload, as: UTF8.self)
    parts[1] = Base64URL.encode(Array(("{\"tampered\":true," + text.dropFirst()).utf8))
    return parts.joined(separator: ".")
  }
}
