import AppStore

/// What a service told about the use of a purchase, as it was sent.
struct ConsumptionReport: Sendable, Equatable, Encodable {
  /// 1 or 2.
  let version: Int
  /// Simulated UNIX milliseconds.
  let at: Int64
  let customerConsented: Bool
  let sampleContentProvided: Bool
  /// The word of version 2 or the number of version 1.
  let deliveryStatus: String
  let consumptionPercentage: Int64?
  let refundPreference: String?
}

extension Ledger {
  /// Reports that are kept of a transaction.
  private static let reportLimit = 20

  /// The customer asks for the money back, and Apple asks the app about it.
  func requestRefund(
    _ id: String, reason: ConsumptionRequestReason, at now: Int64
  ) throws(Refusal) -> Happening {
    var happening = happening(.consumptionRequest, of: try charge(id), at: now)
    happening.consumptionReason = reason
    return happening
  }

  mutating func report(_ report: ConsumptionReport, of charge: Charge) {
    var reports = consumption[charge.id] ?? []
    reports.append(report)
    consumption[charge.id] = reports.suffix(Self.reportLimit)
  }
}
