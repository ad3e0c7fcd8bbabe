/// Why signed data was not accepted.
public struct Rejection: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reasons, stable for machines; decide by these, never by the text.
  public enum Code: String, Sendable, CaseIterable {
    /// Not three parts of strict base64url, or a header that is not what Apple sends.
    case malformedJWS = "malformed-jws"
    /// `alg` is not ES256.
    case wrongAlgorithm = "wrong-algorithm"
    /// `x5c` does not hold exactly three certificates.
    case chainLength = "chain-length"
    /// An entry of `x5c` is not standard base64 of one certificate in DER.
    case invalidCertificate = "invalid-certificate"
    /// The chain does not descend from a pinned root.
    case untrustedChain = "untrusted-chain"
    /// The leaf or the intermediate lacks Apple's marker extension.
    case missingMarker = "missing-marker"
    /// The leaf's key is not on P-256.
    case wrongKey = "wrong-key"
    /// A certificate had run out at the date that counts.
    case certificateExpired = "certificate-expired"
    /// A certificate was not yet valid at the date that counts.
    case certificateNotYetValid = "certificate-not-yet-valid"
    /// The one certificate is not one exported from Xcode for a configured app.
    case untrustedXcodeCertificate = "untrusted-xcode-certificate"
    /// The leaf's key did not make this signature.
    case badSignature = "bad-signature"
    /// The payload is not a JSON object, or a known field has the wrong type.
    case malformedPayload = "malformed-payload"
    /// The signature stands, but the app is not the expected one or not configured.
    case wrongApp = "wrong-app"
    /// The signature stands, but the environment is not configured for the app.
    case wrongEnvironment = "wrong-environment"
    /// The signature stands, but nothing in it says for which app: a form not known here.
    case unknownForm = "unknown-form"
    /// The signature stands, but it is another kind of signed object, such as a transaction.
    case notANotification = "not-a-notification"
    /// The signature stands, but an enclosed object speaks of something else than the outer one.
    case identityMismatch = "identity-mismatch"
    /// Too many unknown certificate chains at once; nothing was decided.
    case busy = "busy"
  }

  /// The reason.
  public let code: Code
  /// One sentence for a person.
  public let detail: String
  /// The enclosed object that was refused, such as `data.signedTransactionInfo`; nil for the whole.
  public let part: String?
  /// Whether a trusted key signed the refused object: it comes from Apple, but is not for us.
  public let isGenuine: Bool

  /// Whether the same data may be accepted later, without any change of configuration.
  public var isRetryable: Bool { code == .busy }

  /// Code, place and detail.
  public var description: String {
    "\(code.rawValue)\(part.map { " in \($0)" } ?? ""): \(detail)"
  }

  init(_ code: Code, _ detail: String, part: String? = nil, isGenuine: Bool = false) {
    self.code = code
    self.detail = detail
    self.part = part
    self.isGenuine = isGenuine
  }

  /// A reason found after the signature stood.
  static func genuine(_ code: Code, _ detail: String) -> Rejection {
    Rejection(code, detail, isGenuine: true)
  }

  /// The same reason, found in an enclosed object.
  func within(_ part: String) -> Rejection {
    Rejection(code, detail, part: part, isGenuine: isGenuine)
  }
}
