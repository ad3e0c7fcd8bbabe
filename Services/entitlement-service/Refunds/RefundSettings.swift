import Catalog
import Events
import Pipeline
import SQLite

/// What a customer agreed to, and how this customer's refund requests are answered.
struct RefundSettings: Codable, Equatable, Sendable {
  /// Whether the customer agreed that Apple is told how a purchase was used.
  var customerConsented = false
  /// Instead of the app's policy: `none`, `decline`, `grant` or `prorate`.
  var refundPreference: String?
  /// Instead of `DELIVERED`: Apple's word, such as `UNDELIVERED_SERVER_OUTAGE`.
  var deliveryStatus: String?
  /// Instead of the app's policy: whether a sample was offered before purchases.
  var sampleContentProvided: Bool?
  /// Which key or person said so last; nil where nobody did.
  var author: String?
  /// When, UTC milliseconds.
  var updatedAt: Int64?

  /// Apple's words for what was delivered (App Store Server API, `deliveryStatus`).
  static let deliveryStatuses = [
    "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM",
    "UNDELIVERED_SERVER_OUTAGE", "UNDELIVERED_OTHER",
  ]

  static func load(_ transaction: Transaction, _ customer: String) throws -> RefundSettings {
    try transaction.first("SELECT body FROM refund_settings WHERE customer = ?", customer) {
      try EventJSON.decode(RefundSettings.self, from: $0.blob(0))
    } ?? RefundSettings()
  }

  static func load(_ reader: Reader, _ customer: String) throws -> RefundSettings {
    try reader.first("SELECT body FROM refund_settings WHERE customer = ?", customer) {
      try EventJSON.decode(RefundSettings.self, from: $0.blob(0))
    } ?? RefundSettings()
  }

  func save(_ transaction: Transaction, _ customer: String) throws {
    try transaction.run(
      """
      INSERT INTO refund_settings (customer, body) VALUES (?, ?)
      ON CONFLICT (customer) DO UPDATE SET body = excluded.body
      """, customer, try EventJSON.encode(self))
  }
}
