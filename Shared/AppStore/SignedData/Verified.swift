public import Cryptography

/// A payload whose signature, chain, app and environment were all accepted.
public struct Verified<Value: Sendable>: Sendable {
  /// The decoded payload.
  public let payload: Value
  /// The payload's JSON as signed, with fields that are not known here.
  public let raw: [UInt8]
  /// SHA-256 of the whole JWS, 32 bytes.
  public let textHash: [UInt8]
  /// The configured app that it is for; nil if the object names none and several would do.
  public let app: AppIdentity?
  /// The environment that was accepted.
  public let environment: AppEnvironment
  /// Whose key signed.
  public let signer: Signer
  /// Leaf, intermediate and pinned root; Xcode's certificate stands alone.
  public let certificates: [Certificate]
}

/// Whose key signed.
public enum Signer: Sendable, Equatable {
  /// A chain that ends on a pinned root.
  case appStore
  /// Xcode, which proves nothing by Apple; the SHA-256 of its certificate marks the lineage.
  case xcode(certificateHash: String)
}

/// A payload whose signature stands, before anything else about it is known.
public struct SignedBytes: Sendable {
  /// The payload's JSON as signed.
  public let raw: [UInt8]
  /// Whose key signed.
  public let signer: Signer
}

/// A notification with its enclosed objects, each verified by itself.
public struct VerifiedNotification: Sendable {
  /// The notification.
  public let notification: Verified<NotificationPayload>
  /// The enclosed transaction.
  public let transaction: Verified<TransactionPayload>?
  /// The enclosed renewal info.
  public let renewalInfo: Verified<RenewalInfoPayload>?
  /// The enclosed app transaction.
  public let appTransaction: Verified<AppTransactionPayload>?
}
