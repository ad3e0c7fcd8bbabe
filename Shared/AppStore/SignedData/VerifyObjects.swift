extension SignedDataVerifier {
  /// A transaction; `expectedBundle` narrows the configured apps to one.
  public func verifyTransaction(
    _ jws: String, expectedBundle: String? = nil
  ) throws(Rejection) -> Verified<TransactionPayload> {
    let signed = try checkSignature(jws)
    let payload: TransactionPayload = try decode(signed)
    let app = try identity(of: signed).app(
      bundleId: payload.bundleId, appAppleId: nil, checksAppAppleId: false,
      environment: payload.environment, expectedBundle: expectedBundle)
    return try verified(payload, signed, app, payload.environment)
  }

  /// Renewal info, which names no app; `expectedBundle` says whose it must be.
  public func verifyRenewalInfo(
    _ jws: String, expectedBundle: String? = nil
  ) throws(Rejection) -> Verified<RenewalInfoPayload> {
    let signed = try checkSignature(jws)
    let payload: RenewalInfoPayload = try decode(signed)
    let app = try identity(of: signed).app(
      expectedBundle: expectedBundle, environment: payload.environment)
    return try verified(payload, signed, app, payload.environment)
  }

  /// The download of an app.
  public func verifyAppTransaction(
    _ jws: String, expectedBundle: String? = nil
  ) throws(Rejection) -> Verified<AppTransactionPayload> {
    let signed = try checkSignature(jws)
    let payload: AppTransactionPayload = try decode(signed)
    let app = try identity(of: signed).app(
      bundleId: payload.bundleId, appAppleId: payload.appAppleId, checksAppAppleId: true,
      environment: payload.receiptType, expectedBundle: expectedBundle)
    return try verified(payload, signed, app, payload.receiptType)
  }

  /// A real-time retention request, which names the app only by its number.
  public func verifyRealtimeRequest(
    _ jws: String
  ) throws(Rejection) -> Verified<RealtimeRequestPayload> {
    let signed = try checkSignature(jws)
    let payload: RealtimeRequestPayload = try decode(signed)
    let app = try identity(of: signed).app(
      appAppleId: payload.appAppleId, environment: payload.environment)
    return try verified(payload, signed, app, payload.environment)
  }

  func decode<Value: Payload>(_ signed: Signed) throws(Rejection) -> Value {
    do {
      return try Value(signed.fields)
    } catch {
      throw .genuine(.malformedPayload, error.description)
    }
  }

  func identity(of signed: Signed) -> IdentityCheck {
    IdentityCheck(apps: apps, signer: signed.signer)
  }

  func verified<Value: Sendable>(
    _ payload: Value, _ signed: Signed, _ app: AppIdentity?, _ environment: AppEnvironment?
  ) throws(Rejection) -> Verified<Value> {
    guard let environment else {
      throw .genuine(.wrongEnvironment, "the payload names no environment")
    }
    return Verified(
      payload: payload, raw: signed.raw, textHash: signed.textHash, app: app,
      environment: environment, signer: signed.signer,
      certificates: signed.certificates)
  }
}
