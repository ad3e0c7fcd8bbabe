/// The two addresses of `verifyReceipt`.
public enum VerifyReceiptServer: Sendable, Equatable {
  /// `buy.itunes.apple.com`, always asked first.
  case production
  /// `sandbox.itunes.apple.com`.
  case sandbox
}

/// What to do after an answer of `verifyReceipt`.
public enum VerifyReceiptOutcome: Sendable, Equatable {
  /// The receipt is genuine and the answer says what is in it.
  case ok
  /// The same request belongs to the sandbox.
  case switchToSandbox
  /// The same request belongs to production.
  case switchToProduction
  /// Nothing was decided; ask again later.
  case retry
  /// Asking again gives the same answer.
  case final(VerifyReceiptFault)
  /// The account is gone: as if nothing had ever been bought.
  case neverPurchased
}

/// Why `verifyReceipt` will never accept a request; stable for machines.
public enum VerifyReceiptFault: String, Sendable, CaseIterable {
  /// Apple could not read the request.
  case unreadableRequest = "unreadable-request"
  /// The receipt is not Apple's.
  case notAuthentic = "not-authentic"
  /// The shared secret is not the app's.
  case wrongSharedSecret = "wrong-shared-secret"
  /// Each server names the other one.
  case noServer = "no-server"
  /// An internal fault that Apple calls lasting.
  case internalFault = "internal-fault"
  /// A status that is not known here.
  case unknownStatus = "unknown-status"
}

/// `status` of an answer of `verifyReceipt`.
public struct VerifyReceiptStatus: OpenVocabulary {
  /// The value as received.
  public let rawValue: Int32

  /// Wraps a value, known or not.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// 0: valid, also when a subscription in it has run out.
  public static let valid = VerifyReceiptStatus(rawValue: 0)
  /// 21000: no POST, or unreadable JSON.
  public static let unreadableRequest = VerifyReceiptStatus(rawValue: 21000)
  /// 21001: no longer sent.
  public static let noLongerSent = VerifyReceiptStatus(rawValue: 21001)
  /// 21002: the receipt's data is malformed, or a temporary problem.
  public static let malformedData = VerifyReceiptStatus(rawValue: 21002)
  /// 21003: not authentic.
  public static let notAuthentic = VerifyReceiptStatus(rawValue: 21003)
  /// 21004: the shared secret does not match.
  public static let wrongSharedSecret = VerifyReceiptStatus(rawValue: 21004)
  /// 21005: temporarily unavailable.
  public static let unavailable = VerifyReceiptStatus(rawValue: 21005)
  /// 21006: a valid transaction receipt of iOS 6 whose subscription has run out.
  public static let subscriptionExpired = VerifyReceiptStatus(rawValue: 21006)
  /// 21007: a sandbox receipt was sent to production.
  public static let sandboxReceipt = VerifyReceiptStatus(rawValue: 21007)
  /// 21008: a production receipt was sent to the sandbox.
  public static let productionReceipt = VerifyReceiptStatus(rawValue: 21008)
  /// 21009: internal fault.
  public static let internalFault = VerifyReceiptStatus(rawValue: 21009)
  /// 21010: the account is not found or was deleted.
  public static let accountNotFound = VerifyReceiptStatus(rawValue: 21010)

  /// What to do; `isRetryable` is the answer's own word, and `server` the one that gave it.
  public func outcome(
    isRetryable: Bool?, from server: VerifyReceiptServer
  ) -> VerifyReceiptOutcome {
    switch self {
    case .valid, .subscriptionExpired: .ok
    case .unreadableRequest: .final(.unreadableRequest)
    case .malformedData, .unavailable, .internalFault: .retry
    case .notAuthentic: .final(.notAuthentic)
    case .wrongSharedSecret: .final(.wrongSharedSecret)
    case .sandboxReceipt: server == .production ? .switchToSandbox : .final(.noServer)
    case .productionReceipt: server == .sandbox ? .switchToProduction : .final(.noServer)
    case .accountNotFound: .neverPurchased
    default: other(isRetryable)
    }
  }

  private func other(_ isRetryable: Bool?) -> VerifyReceiptOutcome {
    // 21100 to 21199 are internal faults; without Apple's word they are taken for passing ones.
    if (21100...21199).contains(rawValue) {
      return isRetryable == false ? .final(.internalFault) : .retry
    }
    return isRetryable == true ? .retry : .final(.unknownStatus)
  }
}
