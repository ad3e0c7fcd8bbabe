import AppStore

/// Something that Apple would tell by a notification, with the state at that moment.
///
/// The payloads have no `signedDate` yet: it is set at each signing.
struct Happening: Sendable, Equatable {
  let type: NotificationType
  let subtype: NotificationSubtype?
  /// Simulated UNIX milliseconds.
  let at: Int64
  let transaction: TransactionPayload?
  let renewalInfo: RenewalInfoPayload?
  let status: SubscriptionStatus?
  /// Of a finished mass extension, instead of all the above.
  var summary: NotificationSummary?
  /// Why the customer wants a refund.
  var consumptionReason: ConsumptionRequestReason?

  /// What is sent when someone asks whether the URL works.
  static func test(at now: Int64) -> Happening {
    Happening(
      type: .test, subtype: nil, at: now, transaction: nil, renewalInfo: nil, status: nil)
  }

  /// Notifications of one lineage keep their order.
  var lineage: String { transaction?.originalTransactionId ?? "" }
}
