import JSON

/// A request of Advanced Commerce that an app makes through StoreKit, as JSON.
///
/// The fields are the app team's own and are passed on as they are; `operation` and `version` are
/// added here.
public struct AdvancedCommerceInAppRequest: Sendable, Equatable {
  /// What is asked for.
  public struct Operation: OpenVocabulary {
    /// The value as sent.
    public let rawValue: String

    /// Wraps a value, known or not.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// `CREATE_ONE_TIME_CHARGE`.
    public static let createOneTimeCharge = Operation(rawValue: "CREATE_ONE_TIME_CHARGE")
    /// `CREATE_SUBSCRIPTION`.
    public static let createSubscription = Operation(rawValue: "CREATE_SUBSCRIPTION")
    /// `MODIFY_SUBSCRIPTION`.
    public static let modifySubscription = Operation(rawValue: "MODIFY_SUBSCRIPTION")
    /// `REACTIVATE_SUBSCRIPTION`.
    public static let reactivateSubscription = Operation(rawValue: "REACTIVATE_SUBSCRIPTION")
  }

  /// The whole request, UTF-8.
  public let json: [UInt8]

  /// Completes a request's fields.
  ///
  /// - Parameter fields: A JSON object with `requestInfo` and what the operation needs.
  /// - Throws: `SignatureFault` for text that is no such object, or that names `operation` or
  ///   `version` itself.
  public init(_ operation: Operation, fields: [UInt8]) throws(SignatureFault) {
    let members: JSONMembers
    do {
      members = try JSONMembers(fields)
    } catch {
      throw .badField("request", "must be a JSON object: \(error)")
    }
    guard members.find("requestInfo") != nil else {
      throw .badField("request", "needs requestInfo with a requestReferenceId")
    }
    guard members.find("operation") == nil, members.find("version") == nil else {
      throw .badField("request", "must leave operation and version to this call")
    }
    let isPlain = operation.rawValue.utf8.allSatisfy {
      (65...90).contains($0) || $0 == UInt8(ascii: "_")
    }
    guard isPlain, let brace = fields.firstIndex(of: UInt8(ascii: "{")) else {
      throw .badField("operation", "must be capital letters and underscores")
    }
    // The object holds at least requestInfo, so a comma is right.
    let added = "\"operation\":\"\(operation.rawValue)\",\"version\":\"1\","
    json = Array("{".utf8) + Array(added.utf8) + fields[(brace + 1)...]
  }
}
