/// The settings of a `.storekit` file.
///
/// What the file does not say is nil or empty.
public struct StoreKitSettings: Sendable, Equatable {
  /// The major version of the file, 1 to 5.
  public let majorVersion: Int
  /// The minor version of the file.
  public let minorVersion: Int
  /// The file's own id.
  public let identifier: String?
  /// The storefront as three letters: `USA`.
  public let storefront: String?
  /// The locale with underscore: `en_US`.
  public let locale: String?
  /// Xcode's code for accelerated time; 0 is real time, the others are not documented.
  public let timeRate: Int?
  /// Whether purchases wait for a parent.
  public let askToBuyEnabled: Bool?
  /// Whether billing fails at purchase.
  public let billingIssuesEnabled: Bool?
  /// Whether billing fails at renewal.
  public let renewalBillingIssuesEnabled: Bool?
  /// Whether a failed renewal has a grace period.
  public let billingGracePeriodEnabled: Bool?
  /// Whether purchase sheets are left out.
  public let disableDialogs: Bool?
  /// Whether transactions fail.
  public let failTransactionsEnabled: Bool?
  /// Errors that StoreKit is to answer.
  public let errors: [SimulatedError]
  /// The Apple id of the app, in files synchronized with App Store Connect.
  public let applicationID: String?
  /// The team, in files synchronized with App Store Connect.
  public let developerTeamID: String?

  /// An error that StoreKit is to answer in one of its calls.
  public struct SimulatedError: Sendable, Equatable {
    /// The call, such as `Load Products`.
    public let name: String
    /// Whether it is answered.
    public let isEnabled: Bool
    /// The kind of the chosen error; nil if none is chosen.
    public let type: String?
    /// The number of the chosen error in its kind.
    public let index: Int?
  }
}
