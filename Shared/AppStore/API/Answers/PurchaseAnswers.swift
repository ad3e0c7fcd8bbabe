/// Answer of Get Transaction Info.
public struct TransactionInfoAnswer: Payload, Equatable {
  /// The transaction as JWS.
  public var signedTransactionInfo: String

  /// Makes an answer.
  public init(signedTransactionInfo: String) { self.signedTransactionInfo = signedTransactionInfo }

  /// Reads the answer; throws if the transaction is missing.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    signedTransactionInfo = try fields.needed("signedTransactionInfo", fields.string)
  }
}

/// Answer of Get App Transaction Info.
public struct AppTransactionInfoAnswer: Payload, Equatable {
  /// The app transaction as JWS.
  public var signedAppTransactionInfo: String

  /// Makes an answer.
  public init(signedAppTransactionInfo: String) {
    self.signedAppTransactionInfo = signedAppTransactionInfo
  }

  /// Reads the answer; throws if the app transaction is missing.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    signedAppTransactionInfo = try fields.needed("signedAppTransactionInfo", fields.string)
  }
}

/// A page of a transaction history.
public struct HistoryAnswer: Payload, Equatable {
  /// Where to go on; every page has one, and it may be kept for later.
  public var revision: String?
  /// Whether there is a next page.
  public var hasMore = false
  /// The app.
  public var bundleId: String?
  /// The app in the App Store; absent in the sandbox.
  public var appAppleId: Int64?
  /// The environment; unknown text is kept.
  public var environment: AppEnvironment?
  /// At most 20 transactions as JWS.
  public var signedTransactions: [String] = []

  /// An empty page, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    revision = try fields.string("revision")
    hasMore = try fields.bool("hasMore") ?? false
    bundleId = try fields.string("bundleId")
    appAppleId = try fields.int64("appAppleId")
    environment = try fields.value("environment")
    signedTransactions = try fields.strings("signedTransactions") ?? []
  }
}

/// A page of a refund history, ascending by the date of revocation.
public struct RefundHistoryAnswer: Payload, Equatable {
  /// Where to go on; every page has one, and it may be kept for later.
  public var revision: String?
  /// Whether there is a next page.
  public var hasMore = false
  /// At most 20 transactions as JWS.
  public var signedTransactions: [String] = []

  /// An empty page, to be filled in.
  public init() {}

  /// Reads the fields that are present; throws for one of the wrong type.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    revision = try fields.string("revision")
    hasMore = try fields.bool("hasMore") ?? false
    signedTransactions = try fields.strings("signedTransactions") ?? []
  }
}

/// Answer of Look Up Order ID.
public struct OrderLookupAnswer: Payload, Equatable {
  /// Whether Apple knows the order.
  public var status: OrderLookupStatus
  /// Its transactions as JWS; none for an invalid order.
  public var signedTransactions: [String]

  /// Makes an answer.
  public init(status: OrderLookupStatus, signedTransactions: [String]) {
    self.status = status
    self.signedTransactions = signedTransactions
  }

  /// Reads the answer; throws if the status is missing.
  public init(_ fields: PayloadFields) throws(PayloadFault) {
    status = try fields.needed("status", fields.value)
    signedTransactions = try fields.strings("signedTransactions") ?? []
  }
}

/// Whether Apple knows an order id.
public struct OrderLookupStatus: OpenVocabulary {
  /// The value as received.
  public let rawValue: Int32

  /// Wraps a value, known or not.
  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// `0`.
  public static let valid = OrderLookupStatus(rawValue: 0)
  /// `1`.
  public static let invalid = OrderLookupStatus(rawValue: 1)
}
