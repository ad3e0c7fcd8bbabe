/// Why something could not be done.
public enum PurserError: Error, Sendable, Equatable {
  /// Nobody answered, or only with "try again"; nothing is lost, and the same call may succeed later.
  case unreachable(String)
  /// The service refused, for good.
  case refused(Refusal)
  /// An answer that this version does not understand.
  case unreadable(String)
  /// The store does not sell this product to this customer.
  case unavailableProduct(String)

  /// A problem document (RFC 9457).
  public struct Refusal: Error, Sendable, Equatable, Decodable {
    /// The last word of its type, such as `unknown-product`; decide by this.
    public var type: String
    /// The HTTP status.
    public var status: Int
    /// For people who develop the app, not for its customers.
    public var detail: String
    /// Whether the transaction may be finished all the same.
    public var finish: Bool?

    /// Makes a refusal.
    public init(type: String, status: Int, detail: String, finish: Bool? = nil) {
      self.type = type
      self.status = status
      self.detail = detail
      self.finish = finish
    }
  }

  /// Whether the same call may succeed later.
  public var isTemporary: Bool {
    if case .unreachable = self { return true }
    return false
  }
}
