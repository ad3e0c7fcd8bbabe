extension SignedDataVerifier {
  /// A server notification and every signed object in it, each verified by itself.
  ///
  /// Enclosed objects must speak of the same app and environment as the notification.
  public func verifyNotification(_ jws: String) throws(Rejection) -> VerifiedNotification {
    let signed = try checkSignature(jws)
    let payload: NotificationPayload = try decode(signed)
    guard let claim = payload.identity else {
      // Apple signs many things, and everybody has some of them: whoever bought something in any app.
      guard payload.notificationType != nil || payload.notificationUUID != nil else {
        throw .genuine(
          .notANotification,
          "it has neither notificationType nor notificationUUID; post what Apple posts")
      }
      throw .genuine(.unknownForm, "the notification holds no object that names its app")
    }
    let app = try identity(of: signed).app(
      bundleId: claim.bundleId, appAppleId: claim.appAppleId, checksAppAppleId: true,
      environment: claim.environment, expectedBundle: nil)
    let notification = try verified(payload, signed, app, claim.environment)
    let transaction = try enclosed(
      payload.data?.signedTransactionInfo, "data.signedTransactionInfo"
    ) {
      (jws) throws(Rejection) in try verifyTransaction(jws, expectedBundle: app.bundleId)
    }
    let renewalInfo = try enclosed(payload.data?.signedRenewalInfo, "data.signedRenewalInfo") {
      (jws) throws(Rejection) in try verifyRenewalInfo(jws, expectedBundle: app.bundleId)
    }
    let appTransaction = try enclosed(
      payload.appData?.signedAppTransactionInfo, "appData.signedAppTransactionInfo"
    ) { (jws) throws(Rejection) in try verifyAppTransaction(jws, expectedBundle: app.bundleId) }

    try agree(transaction?.environment, notification, "data.signedTransactionInfo")
    try agree(renewalInfo?.environment, notification, "data.signedRenewalInfo")
    try agree(appTransaction?.environment, notification, "appData.signedAppTransactionInfo")
    if let transaction, let renewalInfo,
      transaction.payload.originalTransactionId != renewalInfo.payload.originalTransactionId
    {
      throw Rejection.genuine(
        .identityMismatch, "transaction and renewal info are of different subscriptions"
      ).within("data.signedRenewalInfo")
    }
    return VerifiedNotification(
      notification: notification, transaction: transaction, renewalInfo: renewalInfo,
      appTransaction: appTransaction)
  }

  private func enclosed<Value: Sendable>(
    _ jws: String?, _ part: String, _ verify: (String) throws(Rejection) -> Verified<Value>
  ) throws(Rejection) -> Verified<Value>? {
    guard let jws else { return nil }
    do {
      return try verify(jws)
    } catch  where error.isGenuine && error.code == .wrongApp {
      throw Rejection.genuine(.identityMismatch, error.detail).within(part)
    } catch {
      throw error.within(part)
    }
  }

  private func agree(
    _ environment: AppEnvironment?, _ notification: Verified<NotificationPayload>, _ part: String
  ) throws(Rejection) {
    guard environment == nil || environment == notification.environment else {
      throw Rejection.genuine(
        .identityMismatch, "its environment is not the notification's"
      ).within(part)
    }
  }
}

/// What a notification says about whom it is for.
struct NotificationIdentity {
  let bundleId: String?
  let appAppleId: Int64?
  let environment: AppEnvironment?
}

extension NotificationPayload {
  /// Apple's order: data, summary, external purchase token, app data; then what is newer.
  var identity: NotificationIdentity? {
    if let data {
      return NotificationIdentity(
        bundleId: data.bundleId, appAppleId: data.appAppleId, environment: data.environment)
    }
    if let summary {
      return NotificationIdentity(
        bundleId: summary.bundleId, appAppleId: summary.appAppleId,
        environment: summary.environment)
    }
    if let token = externalPurchaseToken {
      return NotificationIdentity(
        bundleId: token.bundleId, appAppleId: token.appAppleId, environment: token.environment)
    }
    if let appData {
      return NotificationIdentity(
        bundleId: appData.bundleId, appAppleId: appData.appAppleId,
        environment: appData.environment)
    }
    if let unclaimInfo, unclaimInfo.bundleId != nil {
      return NotificationIdentity(
        bundleId: unclaimInfo.bundleId, appAppleId: unclaimInfo.appAppleId,
        environment: unclaimInfo.environment)
    }
    return nil
  }
}

extension ExternalPurchaseToken {
  /// Sandbox or Production, told by the token's prefix; there is no field for it.
  public var environment: AppEnvironment {
    externalPurchaseId?.hasPrefix("SANDBOX") == true ? .sandbox : .production
  }
}
