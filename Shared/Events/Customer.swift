public import JSON

/// The app team's own opaque user id.
public enum Customer {
  /// The longest id, in UTF-8 bytes.
  public static let maximumBytes = 128

  /// Why a text cannot be a customer id.
  public enum Fault: Error, Sendable, Equatable {
    case empty
    case tooLong
    case controlCharacter
    /// Ids that begin with `$` are Purser's own.
    case reserved
    /// `.` and `..` cannot stand in the path of a URL (RFC 3986 §5.2.4).
    case dotSegment
  }

  /// Checks an id that came from outside.
  public static func check(_ id: String) throws(Fault) {
    guard !id.isEmpty else { throw .empty }
    guard id.utf8.count <= maximumBytes else { throw .tooLong }
    // By bytes: as characters, `$` and a combining mark after it are one that is not `$`.
    guard id.utf8.first != UInt8(ascii: "$") else { throw .reserved }
    guard id != "." && id != ".." else { throw .dotSegment }
    // Unicode's category Cc.
    for scalar in id.unicodeScalars
    where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
      throw .controlCharacter
    }
  }

  /// Whether two ids are the same customer: the same bytes, as in keys and stores.
  ///
  /// `==` on `String` also holds for texts of other bytes that look alike (canonical equivalence).
  public static func isSame(_ one: String, _ other: String) -> Bool {
    one.utf8.elementsEqual(other.utf8)
  }

  /// The provisional customer of a lineage whose owner is not known.
  public static func provisional(for lineage: LineageID) -> String {
    "$appstore:\(lineage.description)"
  }

  /// Whether an id is a provisional one of Purser's own.
  public static func isProvisional(_ id: String) -> Bool { id.hasPrefix("$appstore:") }
}

/// An `appAccountToken` was given out: from now on a transaction that bears it is this customer's.
public struct TokenIssued: Codable, Sendable, Equatable {
  /// The token: a version 4 UUID in lower case.
  public var token: String
  /// Whose it is.
  public var customer: String
  /// The app for which it was given out.
  public var bundleId: String
  /// The order that it stands for, which has the same id; nil for a token of a whole account.
  public var orderId: String?
  /// When, in UTC milliseconds.
  public var issuedAt: Int64

  /// Makes the event.
  public init(
    token: String, customer: String, bundleId: String, orderId: String?, issuedAt: Int64
  ) {
    self.token = token
    self.customer = customer
    self.bundleId = bundleId
    self.orderId = orderId
    self.issuedAt = issuedAt
  }
}

extension TokenIssued: EventValue {
  /// Reads the object.
  public init(fields: JSONFields) throws(JSONFieldFault) {
    self.init(
      token: try fields.text("token"), customer: try fields.text("customer"),
      bundleId: try fields.text("bundleId"), orderId: try fields.optionalText("orderId"),
      issuedAt: try fields.number("issuedAt"))
  }

  /// Writes the members, sorted by name.
  public func write(to json: inout JSONWriter) {
    json.text("bundleId", bundleId)
    json.text("customer", customer)
    json.number("issuedAt", issuedAt)
    json.text("orderId", orderId)
    json.text("token", token)
  }
}
