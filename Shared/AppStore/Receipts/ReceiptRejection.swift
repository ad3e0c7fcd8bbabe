/// Why a receipt, or text that should be one, was not accepted.
public struct ReceiptRejection: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reasons, stable for machines; decide by these, never by the text.
  public enum Code: String, Sendable, CaseIterable {
    /// More text than any receipt has.
    case tooLarge = "receipt-too-large"
    /// No base64 in any of the forms that clients send.
    case notBase64 = "not-base64"
    /// Another kind of proof; the detail names it.
    case wrongKind = "wrong-kind"
    /// Not PKCS#7 signed data around the attributes of a receipt, or no legacy receipt.
    case malformedReceipt = "malformed-receipt"
    /// The certificates do not lead to a pinned root.
    case wrongRoot = "wrong-root"
    /// The leaf or the intermediate lacks Apple's marker extension.
    case missingMarker = "missing-marker"
    /// The one certificate is not one exported from Xcode for a configured app.
    case untrustedXcodeCertificate = "untrusted-xcode-certificate"
    /// The signer's key did not sign this content.
    case badSignature = "bad-signature"
    /// The signature stands, but a known attribute is missing or not what it must be.
    case malformedContent = "malformed-content"
    /// A certificate had run out when the receipt was made.
    case certificateExpired = "certificate-expired"
    /// A certificate was not yet valid when the receipt was made.
    case certificateNotYetValid = "certificate-not-yet-valid"
    /// The signature stands, but the app is not the expected one or not configured.
    case wrongApp = "wrong-app"
    /// The signature stands, but the environment is not configured for the app.
    case wrongEnvironment = "wrong-environment"
    /// OpenSSL had no memory or no algorithm; nothing was decided.
    case unavailable = "unavailable"
  }

  /// The reason.
  public let code: Code
  /// One sentence for a person.
  public let detail: String

  /// Whether a trusted key signed the receipt: it comes from Apple, but is not for us.
  public var isGenuine: Bool {
    switch code {
    case .malformedContent, .wrongApp, .wrongEnvironment: true
    default: false
    }
  }

  /// Whether the same receipt may be accepted later, without any change of configuration.
  public var isRetryable: Bool { code == .unavailable }

  /// Code and detail.
  public var description: String { "\(code.rawValue): \(detail)" }

  init(_ code: Code, _ detail: String) {
    self.code = code
    self.detail = detail
  }
}
