public import Cryptography

/// A receipt whose signature, chain, app and environment were all accepted.
public struct VerifiedReceipt: Sendable {
  /// What the receipt says.
  public let receipt: AppReceipt
  /// SHA-256 of the signed content, lower-case hexadecimal: one receipt has one, however it was
  /// encoded on its way.
  public let hash: String
  /// The configured app that it is for.
  public let app: AppIdentity
  /// The environment that was accepted.
  public let environment: AppEnvironment
  /// Whose key signed.
  public let signer: Signer
}

/// Proves offline that an app receipt was signed by Apple and is meant for a configured app.
///
/// Certificates must have been valid when the receipt was made, by its own date, so that old
/// receipts verify for ever; there is no clock in it. All work is done on the caller's thread.
public struct ReceiptVerifier: Sendable {
  /// SHA-256 of Apple Root CA.
  static let appleRootFingerprint =
    "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"

  private let roots: [Certificate]
  private let apps: [AppIdentity]
  private let sizeLimit: Int

  /// Builds a verifier, or throws with every fault of its configuration.
  ///
  /// - Parameters:
  ///   - roots: the pinned roots; for Apple, Apple Root CA (not G3).
  ///   - apps: the accepted apps, each bundle id once.
  ///   - sizeLimit: most bytes of a receipt's text.
  public init(
    roots: [Certificate], apps: [AppIdentity], sizeLimit: Int = ReceiptVerifier.defaultSizeLimit
  ) throws(VerifierConfigurationFault) {
    var faults = VerifierConfigurationFault.faults(
      apps: apps, roots: roots, noRoot: "no root certificate for receipts is configured",
      appleRoot: Self.appleRootFingerprint)
    if sizeLimit < 1 { faults.append("a receipt must be allowed at least one byte") }
    guard faults.isEmpty else { throw VerifierConfigurationFault(faults: faults) }
    self.roots = roots
    self.apps = apps
    self.sizeLimit = sizeLimit
  }

  /// Most bytes of a receipt's text unless configured: 4 MiB.
  public static let defaultSizeLimit = ProofEncoding.defaultSizeLimit

  /// Proves a receipt in base64, in any form that clients send.
  ///
  /// `expectedBundle` narrows the configured apps to one.
  public func verify(
    _ text: String, expectedBundle: String? = nil
  ) throws(ReceiptRejection) -> VerifiedReceipt {
    let message = try ReceiptText.signedMessage(text, sizeLimit: sizeLimit)
    return try verify(message, expectedBundle: expectedBundle)
  }

  /// Proves a receipt's bytes.
  public func verify(
    bytes: [UInt8], expectedBundle: String? = nil
  ) throws(ReceiptRejection) -> VerifiedReceipt {
    guard bytes.count <= sizeLimit else { throw ReceiptText.tooLarge(sizeLimit) }
    return try verify(try ReceiptText.signedMessage(bytes), expectedBundle: expectedBundle)
  }

  private func verify(
    _ message: SignedMessage, expectedBundle: String?
  ) throws(ReceiptRejection) -> VerifiedReceipt {
    let (chain, signer) = try ReceiptTrust(roots: roots, apps: apps).chain(of: message)
    guard message.isSignedBySigner() else {
      throw ReceiptRejection(
        .badSignature, "the signature is not by the key of the signer's certificate")
    }
    let receipt = try AppReceipt(content: message.content)
    // Read after the signature stood: whoever could lie about it holds the leaf's key.
    try ReceiptTrust.check(chain, at: receipt.creationDate)
    let app: AppIdentity
    do {
      app = try IdentityCheck(apps: apps, signer: signer).app(
        bundleId: receipt.bundleId, appAppleId: nil, checksAppAppleId: false,
        environment: receipt.environment, expectedBundle: expectedBundle)
    } catch {
      throw ReceiptRejection(
        error.code == .wrongEnvironment ? .wrongEnvironment : .wrongApp, error.detail)
    }
    return VerifiedReceipt(
      receipt: receipt, hash: SHA256.hex(message.content), app: app,
      environment: receipt.environment, signer: signer)
  }
}
