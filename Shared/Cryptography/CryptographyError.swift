internal import COpenSSL

/// What went wrong in a digest, key or certificate operation, without any secret in it.
public struct CryptographyError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kinds of fault; decide by these, never by the text.
  public enum Kind: String, Sendable {
    /// The bytes are not one certificate in DER or PEM.
    case invalidCertificate = "invalid-certificate"
    /// The bytes are not a private or public key that can be used here.
    case invalidKey = "invalid-key"
    /// The key is of another kind or curve than the operation needs.
    case wrongKeyType = "wrong-key-type"
    /// The bytes are not one signed message (PKCS#7) with one signer.
    case invalidMessage = "invalid-message"
    /// OpenSSL refused an operation that should not fail (memory, entropy).
    case operationFailed = "operation-failed"
  }

  /// The kind of fault.
  public let kind: Kind
  /// One sentence for a person: what, where, and what to do.
  public let detail: String

  /// Creates an error; `detail` must hold no secret.
  public init(_ kind: Kind, _ detail: String) {
    self.kind = kind
    self.detail = detail
  }

  /// Kind and detail in one line.
  public var description: String { "\(kind.rawValue): \(detail)" }

  /// The bytes are not a signed message.
  static func invalidMessage(_ detail: String) -> CryptographyError {
    CryptographyError(.invalidMessage, detail)
  }

  /// An operation that should not fail did; takes OpenSSL's reason along and clears its queue.
  static func failed(_ operation: String) -> CryptographyError {
    CryptographyError(.operationFailed, "\(operation) failed (\(ErrorQueue.takeReason()))")
  }
}

/// OpenSSL's thread-local error queue: read in the call that failed, and left empty.
enum ErrorQueue {
  /// The newest reason as text; the queue is empty afterwards.
  static func takeReason() -> String {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    guard code != 0, let text = unsafe ERR_reason_error_string(code) else {
      return "no reason given by OpenSSL"
    }
    return unsafe String(cString: text)
  }

  /// Empties the queue, after a failure that is already explained.
  static func clear() { ERR_clear_error() }
}
