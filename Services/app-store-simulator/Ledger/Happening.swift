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

  /// Notifications of one lineage keep their order.
  var lineage: String { transaction?.originalTransactionId ?? "" }
}
